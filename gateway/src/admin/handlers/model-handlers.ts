import type { BodyOf, ConsoleModel } from "@sluice/contract";
import { type Actor, Failure } from "#core/index.ts";
import type { DeploymentRecord, ModelDraft, ModelRecord } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { readHealth } from "../models/health.ts";
import { type ModelSurroundings, modelView, priceVersionView, visibleModels } from "../models/model-view.ts";
import { priceListInUse, priceListView } from "../models/price-list-reading.ts";
import { simulatePrice } from "../models/price-simulation.ts";
import { given, type Handlers } from "./calls.ts";

const weekMs = 7 * 86_400_000;

/** The calls about models and the price list. */
export function modelHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, reports } = dependencies;
  const changed = async (record: ModelRecord, actor: Actor | null): Promise<ConsoleModel> => {
    await dependencies.changesSeen();
    return modelView(record, await surroundings(dependencies, actor, record.name));
  };
  return {
    "models.list": async ({ query, actor }) => {
      const may = visibleModels(actor, dependencies.configSnapshot());
      const found = (await controlStore.listModels()).filter(
        (record) => may(record.name) && fits(record, query.search),
      );
      const around = await surroundings(dependencies, actor, null);
      return { data: found.map((record) => modelView(record, around)), next: null };
    },
    "models.create": async ({ body, auditSource, actor }) =>
      changed(await controlStore.createModel(newModel(body), auditSource), actor),
    "models.show": async ({ params, actor }) => {
      const record = await visibleRecord(dependencies, params.model, actor);
      return modelView(record, await surroundings(dependencies, actor, record.name));
    },
    "models.update": async ({ params, body, auditSource, actor }) =>
      changed(await controlStore.updateModel(params.model, (before) => changedModel(before, body), auditSource), actor),
    "models.remove": async ({ params, auditSource }) => {
      await controlStore.removeModel(params.model, auditSource);
      await dependencies.changesSeen();
      return {};
    },
    "models.prices": async ({ params, actor }) => {
      const record = await visibleRecord(dependencies, params.model, actor);
      const versions = await controlStore.listPrices(record.name);
      return { data: versions.map((version) => priceVersionView(version, record.price?.id ?? null)), next: null };
    },
    "models.simulate": async ({ params, body, actor }) => {
      const { price, from, to } = body;
      if (from >= to) throw new Failure("invalid_request", "`to` must be later than `from`.", { param: "to" });
      const record = await visibleRecord(dependencies, params.model, actor);
      return { from, to, ...simulatePrice(price, await reports.modelUsage(record.name, from, to)) };
    },
    "catalogue.show": async () => (await priceListView(dependencies)).view,
    "catalogue.take": async ({ body, auditSource }) => {
      const { view, changes } = await priceListView(dependencies);
      if (view.version !== body.version) {
        throw new Failure("conflict", "Prices or models have changed since these were shown. Look at them again.", {
          param: "version",
        });
      }
      const known = new Set(changes.map(({ model }) => model));
      const unknown = (body.models ?? []).find((model) => !known.has(model));
      if (unknown !== undefined) {
        throw new Failure("invalid_request", `There is no new price of the model ${unknown}.`, { param: "models" });
      }
      const wanted = body.models === undefined ? known : new Set(body.models);
      const prices = changes.flatMap(({ model, after, from }) =>
        wanted.has(model) ? [{ model, price: after, from }] : [],
      );
      const taken = await controlStore.takePrices(prices, auditSource);
      await dependencies.changesSeen();
      const guesses = changes.filter(({ model, guessed }) => guessed && taken.includes(model));
      const guessed = [...new Set(guesses.map(({ model }) => model))];
      return { ...(await priceListView(dependencies)).view, taken, guessed };
    },
  } satisfies Partial<Handlers>;
}

/** One that somebody may not call looks missing to them. */
async function visibleRecord(
  dependencies: ConsoleDependencies,
  name: string,
  actor: Actor | null,
): Promise<ModelRecord> {
  const record = visibleModels(actor, dependencies.configSnapshot())(name)
    ? await dependencies.controlStore.model(name)
    : null;
  if (record === null) throw new Failure("not_found", "There is no such model.", { param: "model" });
  return record;
}

/** Health and figures are worked out for administrators only: nobody else is shown them. */
async function surroundings(
  dependencies: ConsoleDependencies,
  actor: Actor | null,
  model: string | null,
): Promise<ModelSurroundings> {
  const { configSnapshot, endpointsOf, untranslatedEndpointsOf } = dependencies;
  const shown = actor?.administrator === true;
  const now = dependencies.clock.now();
  const used = shown ? await dependencies.reports.modelUsage(model, now - weekMs, now) : [];
  const health = await readHealth(
    shown ? dependencies : { ...dependencies, reports: { deploymentUse: async () => [] } },
  );
  const { prices: known } = await priceListInUse(dependencies);
  const isVisible = visibleModels(actor, configSnapshot());
  return {
    health,
    lastWeek: new Map(used.map((each) => [each.model, each] as const)),
    configSnapshot: configSnapshot(),
    isVisible,
    known,
    endpointsOf,
    untranslatedEndpointsOf,
  };
}

function fits(record: ModelRecord, search: string | undefined): boolean {
  const part = search?.trim().toLowerCase() ?? "";
  return record.name.toLowerCase().includes(part) || record.ownedBy.toLowerCase().includes(part);
}

/** A new model from what was sent. */
function newModel({ deployments, ...rest }: BodyOf<"models.create">): ModelDraft {
  return { ...rest, deployments: deployments.map((sent) => deploymentFrom(sent, undefined)) };
}

/** A model with what was sent put over what is stored; what was not sent stays, of a deployment too. */
function changedModel(before: ModelRecord, body: BodyOf<"models.update">): ModelDraft {
  const stored = new Map(before.deployments.map((each) => [targetOf(each.provider, each.upstreamModel), each]));
  const deployments = body.deployments?.map((sent) =>
    deploymentFrom(sent, stored.get(targetOf(sent.provider, sent.upstream_model ?? before.name))),
  );
  return {
    name: before.name,
    type: body.type ?? before.type,
    owned_by: body.owned_by ?? before.ownedBy,
    fallbacks: body.fallbacks ?? [...before.fallbacks],
    max_output_tokens: body.max_output_tokens === undefined ? before.outputTokensMax : body.max_output_tokens,
    context_window: body.context_window === undefined ? before.contextWindow : body.context_window,
    ...given({ unpriced: body.unpriced, price: body.price, next_price: body.next_price }),
    deployments: deployments ?? before.deployments.map(deploymentAsStored),
  };
}

function deploymentFrom(
  { capabilities, ...sent }: BodyOf<"models.create">["deployments"][number],
  before: DeploymentRecord | undefined,
): ModelDraft["deployments"][number] {
  const said = capabilities === undefined ? (before?.capabilities ?? null) : capabilities;
  return {
    ...(before === undefined ? {} : { priority: before.priority, weight: before.weight, enabled: before.enabled }),
    ...given(sent),
    provider: sent.provider,
    ...(said === null ? {} : { capabilities: said }),
  };
}

function deploymentAsStored({ id: _id, upstreamModel, capabilities, ...rest }: DeploymentRecord) {
  return { ...rest, upstream_model: upstreamModel, ...(capabilities === null ? {} : { capabilities }) };
}

function targetOf(provider: string, upstreamModel: string): string {
  return JSON.stringify([provider, upstreamModel]);
}
