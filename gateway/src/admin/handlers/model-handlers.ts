import type { AnswerOf, BodyOf, PriceConfig, PriceMember, Remark } from "@sluice/contract";
import { remarkSentence, usageTable } from "@sluice/contract/words";
import {
  type Actor,
  Failure,
  invalidRequest,
  orNotFound,
  type PricedClass,
  type PriceTable,
  pricedClasses,
  pricesOf,
  withoutUndefined,
} from "#core/index.ts";
import { deploymentDraft } from "#directory/index.ts";
import type { DeploymentRecord, ModelDraft, ModelRecord, ModelUsage } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { modelViews, priceVersionView, visibleModels } from "../models/model-view.ts";
import { priceListInUse, priceListView } from "../models/price-list-reading.ts";
import { applier, type Handlers } from "./calls.ts";

export function modelHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, reports } = dependencies;
  const view = async (record: ModelRecord, actor: Actor) =>
    (await modelViews(dependencies, actor, record.name))(record);
  const applied = applier(dependencies);
  const changed = async (write: Promise<ModelRecord>, actor: Actor) => await view(await applied(write), actor);
  return {
    "models.list": async ({ query, actor }) => {
      const may = visibleModels(actor, dependencies.configSnapshot());
      const records = (await controlStore.listModels()).filter(
        (record) => may(record.name) && matchesSearch(record, query.search),
      );
      return { data: records.map(await modelViews(dependencies, actor, null)), next: null };
    },
    "models.create": async ({ body, auditSource, actor }) => {
      const price = await listPriceFor(dependencies, body, null);
      return await changed(controlStore.createModel({ ...newModel(body), ...price }, auditSource), actor);
    },
    "models.show": async ({ params, actor }) => view(await visibleRecord(dependencies, params.model, actor), actor),
    "models.update": async ({ params, body, auditSource, actor }) => {
      const price = await listPriceFor(dependencies, body, await controlStore.model(params.model));
      const change = (before: ModelRecord) => ({ ...changedModel(before, body), ...price });
      return await changed(controlStore.updateModel(params.model, change, auditSource), actor);
    },
    "models.remove": ({ params, auditSource }) => applied(controlStore.removeModel(params.model, auditSource)),
    "models.prices": async ({ params, actor }) => {
      const record = await visibleRecord(dependencies, params.model, actor);
      const versions = await controlStore.listPrices(record.name);
      return { data: versions.map((version) => priceVersionView(version, record.price?.id ?? null)), next: null };
    },
    "models.simulate": async ({ params, body, actor }) => {
      const { price, from, to } = body;
      if (from >= to) throw invalidRequest("to", "`to` must be later than `from`.");
      const record = await visibleRecord(dependencies, params.model, actor);
      return { from, to, ...simulatePrice(price, await reports.modelUsage(record.name, from, to)) };
    },
    "priceList.entry": async ({ query }) => {
      const found = await listEntry(dependencies, query);
      const { price = null, guessed = false, contextWindow = null, deprecated = false } = found ?? {};
      return { price, guessed, context_window: contextWindow, deprecated };
    },
    "priceList.show": async () => (await priceListView(dependencies)).view,
    "priceList.apply": async ({ body, auditSource }) => {
      const { view, changes } = await priceListView(dependencies);
      if (view.version !== body.version) {
        throw new Failure("conflict", "Prices or models have changed since this list was shown. Reload it.", {
          param: "version",
        });
      }
      const changed = new Set(changes.map(({ model }) => model));
      const unknown = (body.models ?? []).find((model) => !changed.has(model));
      if (unknown !== undefined) {
        throw invalidRequest("models", `The list has no new price for the model ${unknown}.`);
      }
      const wanted = body.models === undefined ? changed : new Set(body.models);
      const prices = changes.flatMap(({ model, after, from }) =>
        wanted.has(model) ? [{ model, price: after, from }] : [],
      );
      const models = await applied(controlStore.applyListPrices(prices, auditSource));
      const guesses = changes.filter(({ model, guessed }) => guessed && models.includes(model));
      const guessed = [...new Set(guesses.map(({ model }) => model))];
      return { ...(await priceListView(dependencies)).view, applied: models, guessed };
    },
  } satisfies Partial<Handlers>;
}

type Served = Pick<DeploymentRecord, "provider" | "upstream_model">;

async function listEntry(dependencies: ConsoleDependencies, { provider, upstream_model: upstreamModel }: Served) {
  const { kind } = orNotFound(dependencies.configSnapshot().providers.get(provider), "provider", "provider");
  const { prices } = await priceListInUse(dependencies);
  return prices.entry(kind, upstreamModel);
}

/** The price list's price for `use_list_price`, by the first deployment. */
async function listPriceFor(
  dependencies: ConsoleDependencies,
  body: BodyOf<"models.create"> | BodyOf<"models.update">,
  before: ModelRecord | null,
): Promise<Pick<ModelDraft, "price" | "price_origin">> {
  if (body.use_list_price !== true) return {};
  if (body.price !== undefined) {
    throw invalidRequest("use_list_price", "`use_list_price` and `price` cannot be combined.");
  }
  const name = "name" in body ? body.name : (before?.name ?? "");
  const [sent] = body.deployments ?? [];
  const served = sent === undefined ? before?.deployments[0] : { upstream_model: name, ...withoutUndefined(sent) };
  const price = served === undefined ? null : (await listEntry(dependencies, served))?.price;
  if (price == null) {
    throw invalidRequest("use_list_price", `The price list has no price for ${served?.upstream_model ?? name}.`);
  }
  return { price, price_origin: "price_list" };
}

/** A model that the caller may not use is not found. */
async function visibleRecord(dependencies: ConsoleDependencies, name: string, actor: Actor): Promise<ModelRecord> {
  const isVisible = visibleModels(actor, dependencies.configSnapshot())(name);
  return orNotFound(isVisible ? await dependencies.controlStore.model(name) : null, "model", "model");
}

function matchesSearch(record: ModelRecord, search: string | undefined): boolean {
  const part = search?.trim().toLowerCase() ?? "";
  return record.name.toLowerCase().includes(part) || record.owned_by.toLowerCase().includes(part);
}

function newModel({ deployments, use_list_price: _list, ...rest }: BodyOf<"models.create">): ModelDraft {
  return { ...rest, deployments: deployments.map((sent) => deploymentFrom(sent, undefined)) };
}

/** The stored model with the sent fields replaced, also in its deployments. */
function changedModel(
  before: ModelRecord,
  { deployments, use_list_price: _list, ...body }: BodyOf<"models.update">,
): ModelDraft {
  const { name, type, owned_by, fallbacks, max_output_tokens, context_window } = before;
  const stored = new Map(before.deployments.map((each) => [targetOf(each.provider, each.upstream_model), each]));
  return {
    ...{ name, type, owned_by, fallbacks: [...fallbacks], max_output_tokens, context_window },
    ...withoutUndefined(body),
    deployments:
      deployments?.map((sent) =>
        deploymentFrom(sent, stored.get(targetOf(sent.provider, sent.upstream_model ?? name))),
      ) ?? before.deployments.map(deploymentDraft),
  };
}

function deploymentFrom(
  { capabilities, ...sent }: BodyOf<"models.create">["deployments"][number],
  before: DeploymentRecord | undefined,
): ModelDraft["deployments"][number] {
  const merged = capabilities === undefined ? (before?.capabilities ?? null) : capabilities;
  return {
    ...(before === undefined ? {} : { priority: before.priority, weight: before.weight, enabled: before.enabled }),
    ...withoutUndefined(sent),
    provider: sent.provider,
    ...(merged === null ? {} : { capabilities: merged }),
  };
}

function targetOf(provider: string, upstreamModel: string): string {
  return JSON.stringify([provider, upstreamModel]);
}

type Simulation = Omit<AnswerOf<"models.simulate">, "from" | "to">;
/** Usage classes by their name in a price. */
const priceWords = Object.fromEntries(
  usageTable.flatMap(({ name, price }) => (price === null ? [] : [[name, price]])),
) as Readonly<Record<PricedClass, PriceMember>>;

/** Cost of a sum of usage at a price, exact in pico-USD until it is shown. */
function simulatePrice(price: PriceConfig, used: readonly ModelUsage[]): Simulation {
  const { table, variants } = pricesOf(price);
  const units = new Map(pricedClasses.map((name) => [name, unitsOf(name, used)]));
  const lines = pricedClasses.flatMap((name) => lineOf(name, units.get(name) ?? 0, table));
  const picoUsd = lines.reduce((sum, line) => sum + line.pico, 0n);
  const requests = used.reduce((sum, each) => sum + each.requests, 0);
  const remarks = remarksOn(units, table, { requests, variants: (variants ?? []).length > 0 });
  return {
    requests,
    usage: Object.fromEntries(
      pricedClasses.flatMap((name) => {
        const count = units.get(name) ?? 0;
        return count === 0 ? [] : [[priceWords[name], count]];
      }),
    ),
    cost_usd: used.reduce((sum, each) => sum + each.costUsd, 0),
    simulated_usd: usdOf(picoUsd),
    lines: lines.map(({ pico, ...line }) => ({ ...line, usd: usdOf(pico) })),
    notes: remarks.map((remark) => remarkSentence("simulation", remark)),
    remarks,
  };
}

function unitsOf(name: PricedClass, used: readonly ModelUsage[]): number {
  return used.reduce((sum, each) => sum + (each.usage[name] ?? 0), 0);
}

function lineOf(name: PricedClass, units: number, table: PriceTable) {
  const pico = table[name];
  if (units === 0 || pico === undefined) return [];
  // Counts are whole numbers; an error beyond 2^53 is not visible.
  return [
    { class: priceWords[name], units, unit_usd: pico / picoPerUsd, pico: BigInt(Math.round(units)) * BigInt(pico) },
  ];
}

type SimulationRemark = Remark<"simulation">;

function remarksOn(
  units: ReadonlyMap<PricedClass, number>,
  table: PriceTable,
  { requests, variants }: { readonly requests: number; readonly variants: boolean },
): SimulationRemark[] {
  if (requests === 0 && [...units.values()].every((count) => count === 0))
    return [{ code: "nothing_used", params: {} }];
  const remarks: SimulationRemark[] = [];
  for (const [name, count] of units) {
    if (count > 0 && table[name] === undefined) {
      remarks.push({ code: "class_without_price", params: { class: priceWords[name], count } });
    }
  }
  const videos = (units.get("videoSeconds") ?? 0) > 0 || (units.get("output") ?? 0) > 0;
  if (variants && videos) remarks.push({ code: "variants_not_told_apart", params: {} });
  if (table.longContext !== undefined) remarks.push({ code: "long_context_not_told_apart", params: {} });
  remarks.push({ code: "rounded_at_once", params: {} });
  return remarks;
}

const picoPerUsd = 1_000_000_000_000;

function usdOf(pico: bigint): number {
  return Number(pico) / picoPerUsd;
}
