import type { BodyOf, ConsoleProvider, Health } from "@sluice/contract";
import {
  declaredProvider,
  Failure,
  invalidRequest,
  orNotFound,
  type Provider,
  redactedText,
  withoutUndefined,
} from "#core/index.ts";
import type { ProviderRecord } from "#directory/index.ts";
import type { ProviderDraft } from "#ports/index.ts";
import {
  defaultBaseUrl,
  kindForm,
  type ProviderKind,
  providerKind,
  providerKinds,
  retirementOf,
  settingIsShown,
  settingsProblem,
  shownSettings,
  suggestedModel,
  typesOf,
  wrongSettings,
} from "#providers/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { readHealth } from "../models/model-view.ts";
import { priceListInUse } from "../models/price-list-reading.ts";
import { testProvider } from "../models/provider-trial.ts";
import { applier, type Handlers } from "./calls.ts";

export function providerHandlers(dependencies: ConsoleDependencies) {
  const { controlStore } = dependencies;
  const shown = async (records: readonly ProviderRecord[]) => {
    const health = await readHealth(dependencies);
    const models = [...dependencies.configSnapshot().models.values()];
    const deployments = Map.groupBy(
      models.flatMap((model) => model.deployments),
      ({ provider }) => provider.id,
    );
    return records.map((record) => {
      const own = deployments.get(record.id)?.map(({ id }) => id) ?? [];
      return providerView(record, own.length, health.ofProvider(record.id, own));
    });
  };
  const applied = applier(dependencies);
  const one = async (record: ProviderRecord | null) => {
    const [view] = record === null ? [] : await shown([record]);
    return orNotFound(view, "provider", "provider");
  };
  return {
    "providers.kinds": () => ({ data: providerKinds.map(kindView), next: null }),
    "providers.list": async () => ({ data: await shown(await controlStore.listProviders()), next: null }),
    "providers.create": async ({ body, auditSource }) =>
      one(await applied(controlStore.createProvider(newProvider(body), auditSource))),
    "providers.show": async ({ params }) => one(await controlStore.provider(params.provider)),
    "providers.update": async ({ params, body, auditSource }) => {
      const change = (before: ProviderRecord) => changedProvider(before, body);
      return await one(await applied(controlStore.updateProvider(params.provider, change, auditSource)));
    },
    "providers.remove": ({ params, auditSource }) => applied(controlStore.removeProvider(params.provider, auditSource)),
    "providers.test": async ({ params, body, signal }) => {
      const subject = await requireProvider(dependencies, params.provider);
      const trial = { ...subject, configSnapshot: dependencies.configSnapshot(), model: body.upstream_model ?? null };
      return await testProvider(dependencies.probe, trial, signal);
    },
    "providers.upstreamModels": async ({ params, signal }) => ({
      data: await upstreamModels(dependencies, params.provider, signal),
      next: null,
    }),
    "providers.import": async ({ params, body, auditSource }) => {
      const { kind } = await requireProvider(dependencies, params.provider);
      const { prices } = await priceListInUse(dependencies);
      const wanted = body.models.map((model) => ({ ...model, price: prices.price(kind.id, model.upstream_model) }));
      return await applied(controlStore.importModels(params.provider, wanted, auditSource));
    },
  } satisfies Partial<Handlers>;
}

/** Reads the database, so that recent changes of another process count. */
async function requireProvider(
  dependencies: ConsoleDependencies,
  id: string,
): Promise<{ readonly provider: Provider; readonly kind: ProviderKind }> {
  await dependencies.changesSeen();
  const provider = orNotFound(dependencies.configSnapshot().providers.get(id), "provider", "provider");
  const kind = providerKind(provider.kind);
  if (kind !== null) return { provider, kind };
  throw new Failure("conflict", `This version of the gateway does not support the provider type ${provider.kind}.`);
}

async function upstreamModels(dependencies: ConsoleDependencies, id: string, signal: AbortSignal) {
  const { provider, kind } = await requireProvider(dependencies, id);
  const listing = await dependencies.probe.listModels(provider, kind, signal);
  if (listing === null) {
    throw new Failure("conflict", `Providers of type ${kind.id} have no list of models. Enter model names yourself.`);
  }
  if (listing.models === null || listing.problem !== null) {
    const advice = listing.advice === null ? "" : ` ${listing.advice}`;
    throw new Failure("upstream_error", `${listing.problem ?? "The provider returned no list of models."}${advice}`);
  }
  // Models by the upstream model name of their deployments.
  const served = Map.groupBy(
    [...dependencies.configSnapshot().models.values()].flatMap(({ name, deployments }) =>
      deployments.filter((each) => each.provider.id === id).map(({ upstreamModel }) => ({ name, upstreamModel })),
    ),
    ({ upstreamModel }) => upstreamModel,
  );
  const { prices } = await priceListInUse(dependencies);
  return listing.models.map((model) => {
    const entry = prices.entry(kind.id, model.id);
    const retiresAt = model.retiresAt ?? retirementOf(kind.id, model.id);
    return {
      id: model.id,
      owned_by: model.ownedBy,
      created_at: model.createdAt,
      served_as: served.get(model.id)?.map(({ name }) => name) ?? [],
      suggested: suggestedModel(kind, model),
      price: entry?.price ?? null,
      price_guessed: entry?.price != null && entry.guessed,
      context_window: model.contextWindow ?? entry?.contextWindow ?? null,
      max_output_tokens: model.outputTokensMax,
      deprecated: model.deprecated || entry?.deprecated === true || retiresAt !== null,
      retires_at: retiresAt,
    };
  });
}

/** A provider as the console shows it: whether it has a secret, never the secret itself. */
function providerView(record: ProviderRecord, deployments: number, health: Health): ConsoleProvider {
  return { ...record, settings: shownSettings(record.kind, record.settings), deployments, health };
}

function kindView(kind: ProviderKind) {
  const form = kindForm(kind);
  return {
    kind: kind.id,
    title: kind.title,
    base_url: kind.baseUrl,
    base_url_help: form.baseUrlHelp,
    api_key: form.apiKey,
    api_key_help: form.apiKeyHelp,
    dialects: [...new Set(kind.lanes.map((lane) => lane.dialect))],
    types: typesOf(kind),
    lists_models: kind.listsModels !== false,
    fields: form.fields.map(({ setsDestination: _leads, ...field }) => field),
  };
}

type Settings = Readonly<Record<string, unknown>>;

function newProvider(body: BodyOf<"providers.create">): ProviderDraft {
  refuseRedactedKey(body.api_key);
  const { base_url, disconnect, settings, ...rest } = body;
  return {
    ...rest,
    ...(base_url == null ? {} : { base_url }),
    ...(disconnect == null ? {} : { disconnect }),
    ...(settings === undefined ? {} : { settings: mergedSettings(body.kind, settings, {}) }),
  };
}

/**
 * The stored provider with the sent fields replaced. A secret setting sent as `[redacted]` is kept unless the provider would send it to
 * another address; then it is removed, like the API key.
 */
function changedProvider(before: ProviderRecord, body: BodyOf<"providers.update">): ProviderDraft {
  refuseRedactedKey(body.api_key);
  const merged =
    body.settings === undefined ? before.settings : mergedSettings(before.kind, body.settings, before.settings);
  const address = addressOf(before, body, merged);
  const moved =
    (address ?? defaultAddress(before, merged)) !== before.base_url ||
    destinationFields(before.kind).some(({ name }) => merged[name] !== before.settings[name]);
  const settings = moved ? withoutStoredSecrets(before, merged) : merged;
  const { id, kind, allow_private_network, timeouts, disconnect, enabled } = before;
  const { base_url: _address, settings: _sent, ...sent } = body;
  const { disconnect: stops, ...draft } = {
    ...{ id, kind, allow_private_network, timeouts, disconnect, enabled },
    ...withoutUndefined(sent),
  };
  return {
    ...draft,
    ...(address === undefined ? {} : { base_url: address }),
    ...(stops === null ? {} : { disconnect: stops }),
    settings: { ...settings },
  };
}

/** undefined: the default of the provider type. A default address follows the settings that determine it. */
function addressOf(before: ProviderRecord, body: BodyOf<"providers.update">, merged: Settings): string | undefined {
  if (body.base_url !== undefined) return body.base_url ?? undefined;
  const wasDefault = before.base_url === defaultAddress(before, before.settings);
  return wasDefault && defaultAddress(before, merged) !== null ? undefined : before.base_url;
}

/** The sent settings, validated, with kept secrets filled in. An empty value removes a setting. */
function mergedSettings(kindId: string, sent: Settings, stored: Settings): Settings {
  const kind = providerKind(kindId);
  const entries = Object.entries(sent).filter(([, value]) => value !== null && value !== "");
  const missing = entries.find(([name, value]) => value === redactedText && !(name in stored));
  if (missing !== undefined) {
    const param = `settings.${missing[0]}`;
    throw invalidRequest(param, `There is no stored \`${param}\` to keep. Send its value.`);
  }
  const added = Object.fromEntries(entries.filter(([, value]) => value !== redactedText));
  // The store refuses an unknown provider type.
  const [wrong] = kind === null ? [] : wrongSettings(kind, added);
  if (wrong !== undefined)
    throw invalidRequest(`settings.${wrong.name}`, `\`settings.${wrong.name}\`: ${wrong.problem}.`);
  return Object.fromEntries(entries.map(([name, value]) => [name, value === redactedText ? stored[name] : value]));
}

/** Removes secret settings that were not sent again. Throws if one is required. */
function withoutStoredSecrets(before: ProviderRecord, merged: Settings): Settings {
  const dropped = Object.keys(merged).filter(
    (name) => !settingIsShown(before.kind, name) && merged[name] === before.settings[name],
  );
  if (dropped.length === 0) return merged;
  const rest = Object.fromEntries(Object.entries(merged).filter(([name]) => !dropped.includes(name)));
  const kind = providerKind(before.kind);
  const problem =
    kind === null
      ? null
      : settingsProblem(kind, declaredProvider({ id: before.id, kind: before.kind, settings: rest }));
  if (problem === null) return rest;
  const names = dropped.map((name) => `settings.${name}`).join(", ");
  const message = `${problem}. The provider's base URL changes, so send ${names} again.`;
  throw invalidRequest(`settings.${dropped[0]}`, message);
}

function refuseRedactedKey(apiKey: string | null | undefined): void {
  if (apiKey !== redactedText) return;
  throw invalidRequest("api_key", "`[redacted]` is not a key. Omit `api_key` to keep the stored one.");
}

function destinationFields(kindId: string) {
  const kind = providerKind(kindId);
  return kind === null ? [] : kindForm(kind).fields.filter(({ setsDestination }) => setsDestination);
}

function defaultAddress(record: ProviderRecord, settings: Settings): string | null {
  const kind = providerKind(record.kind);
  return kind === null ? null : defaultBaseUrl(kind, declaredProvider({ id: record.id, kind: record.kind, settings }));
}
