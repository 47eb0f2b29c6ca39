import type { ModelConfig, PriceConfig, ProviderConfig } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import { Failure, invalidRequest, type ModelType, orNotFound } from "#core/index.ts";
import type { ModelDraft, ModelRecord } from "#ports/index.ts";
import { type Connection, insertRows, priceOf, type Row, removeRows, updateRow } from "#storage/tables.ts";
import { guardrailsByModel, refuseModelOfGuardrail } from "../guardrails/guardrails.ts";
import { refuseDraft, refuseExisting, refuseFileDeclared, refuseSuspended, shortList } from "../refusals.ts";
import { applyRows, findRow, findRows, installationObject, not, suspendOrRelease } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { applyDeployments, removeDeployments } from "./deployments.ts";
import { applyPrices, currentPrices, dropNextPrice, type ModelPrices, noPrices, setPrice } from "./prices.ts";

export async function createModel(context: ControlWrite, draft: ModelDraft): Promise<ModelRecord> {
  return insertModel(context, draft);
}

/** `origin`: the source of the price; null: set by hand. */
export async function insertModel(
  context: ControlWrite,
  draft: ModelDraft,
  origin: "price_list" | null = null,
): Promise<ModelRecord> {
  const { name } = draft;
  refuseExisting(await findRow(context.transaction, "models", { name }), `model ${name}`, "name");
  const row = await checkedRow(context, draft, undefined);
  await insertRows(context, modelObject, [row]);
  return await writePriceAndDeployments(context, draft, origin);
}

export async function updateModel(
  context: ControlWrite,
  name: string,
  change: (before: ModelRecord) => ModelDraft,
): Promise<ModelRecord> {
  const before = await rowNotFromFile(context, name);
  refuseSuspended(before, `model ${name}`);
  const record = await requireRecord(context, name);
  const draft = change(record);
  const checked = await checkedRow(context, draft, before, record.fallbacks);
  const after = { ...checked, unpriced: draft.unpriced === undefined ? before.unpriced : draft.unpriced };
  await updateRow(context, modelObject, { before, after });
  return await writePriceAndDeployments(context, draft);
}

/** Throws `conflict` while another model falls back to it, or a guardrail calls it. */
export async function removeModel(context: ControlWrite, name: string): Promise<void> {
  const row = await rowNotFromFile(context, name);
  const dependents = await modelsFallingBackTo(context.transaction, new Set([name]));
  if (dependents.length > 0) {
    const names = shortList(dependents.map((other) => other.name));
    throw new Failure("conflict", `Other models fall back to ${name}: ${names}. Change their fallbacks first.`);
  }
  await refuseModelOfGuardrail(context.transaction, name);
  await removeDeployments(context, name);
  await removeRows(context, modelObject, [row]);
}

async function rowNotFromFile(context: ControlWrite, name: string): Promise<ModelRow> {
  const row = orNotFound(await findRow(context.transaction, "models", { name }), "model");
  refuseFileDeclared(row, `model ${name}`);
  return row;
}

async function requireRecord({ transaction, at }: ControlWrite, name: string): Promise<ModelRecord> {
  return orNotFound(await modelRecord(transaction, name, at), "model");
}

/** Checks a model as part of a config file with the existing providers and models. Fallbacks in `fallbacksBefore` may be deleted models. */
async function checkedRow(
  context: ControlWrite,
  draft: ModelDraft,
  before: ModelRow | undefined,
  fallbacksBefore: readonly string[] = [],
): Promise<ModelRow> {
  const { transaction } = context;
  const providerIds = [...new Set(draft.deployments.map((deployment) => deployment.provider))];
  const providers = await findRows(transaction, "providers", { id: providerIds, managed_by: not("suspended") });
  const fallbacks = draft.fallbacks ?? [];
  const found = await findRows(transaction, "models", { name: fallbacks, managed_by: not("suspended") });
  const others = new Set([...found.map((row) => row.name), ...fallbacksBefore]);
  others.delete(draft.name);
  const models = [...others].map((name): ModelConfig => ({ name, deployments: [] }));
  const config = configOf(draft);
  refuseDraft(
    conflictsOf({ providers: providers.map(({ id, kind }) => ({ id, kind })), models: [config, ...models] }),
    2,
  );
  const kinds = new Map(providers.map((provider) => [provider.id, provider.kind]));
  return modelRow(context, config, kinds, before);
}

/** Call after writing the row of the model. */
async function writePriceAndDeployments(
  context: ControlWrite,
  draft: ModelDraft,
  origin: "price_list" | null = null,
): Promise<ModelRecord> {
  const { name, price, next_price: next } = draft;
  if (price !== undefined) await setPrice(context, name, price, { origin: draft.price_origin ?? origin });
  if (next === null) await dropNextPrice(context, name);
  else if (next !== undefined) {
    if (next.from <= context.at) {
      throw invalidRequest("next_price", "`next_price.from` must be in the future.");
    }
    await setPrice(context, name, next.price, { from: next.from });
  }
  await applyDeployments(context, [configOf(draft)]);
  return await requireRecord(context, name);
}

function configOf({
  price,
  next_price: _next,
  max_output_tokens,
  context_window,
  unpriced,
  ...draft
}: ModelDraft): ModelConfig {
  return {
    ...draft,
    ...(price == null ? {} : { price }),
    ...(max_output_tokens == null ? {} : { max_output_tokens }),
    ...(context_window == null ? {} : { context_window }),
    ...(unpriced == null ? {} : { unpriced }),
  };
}

/** Applies the models of the config with their prices and deployments. Models that it no longer declares are suspended. */
export async function applyModels(
  context: ControlWrite,
  models: readonly ModelConfig[],
  providers: readonly ProviderConfig[],
): Promise<void> {
  const existing = await findRows(context.transaction, "models", {});
  const byName = new Map(existing.map((row) => [row.name, row]));
  const kinds = new Map(providers.map((provider) => [provider.id, provider.kind]));
  const wanted = models.map((model) => modelRow(context, model, kinds, byName.get(model.name)));
  const { vanished } = await applyRows(context, modelObject, existing, wanted, (row) => row.name);
  await applyPrices(context, models, byName);
  await applyDeployments(context, models);
  await suspendModels(context, vanished);
}

/** A model that guardrails call or other models fall back to is released to the console instead, and so are its own fallbacks. */
async function suspendModels(context: ControlWrite, vanished: readonly ModelRow[]): Promise<void> {
  if (vanished.length === 0) return;
  const checking = await guardrailsByModel(context.transaction);
  const suspended = new Set(vanished.map((row) => row.name).filter((name) => !checking.has(name)));
  const dependents = await modelsFallingBackTo(context.transaction, suspended);
  let needed: string[];
  do {
    needed = dependents
      .flatMap(({ name, fallbacks }) => (suspended.has(name) ? [] : fallbacks))
      .filter((name) => suspended.has(name));
    for (const name of needed) suspended.delete(name);
  } while (needed.length > 0);
  for (const row of vanished) {
    await suspendOrRelease(context, modelObject, row, !suspended.has(row.name));
  }
}

type ModelRow = Row<"models">;

const modelObject = installationObject("models", "name", { label: (row) => `model ${row.name}`, view: modelView });

function modelRow(
  context: ControlWrite,
  model: ModelConfig,
  kinds: ReadonlyMap<string, string>,
  before: ModelRow | undefined,
): ModelRow {
  return {
    name: model.name,
    type: model.type ?? "chat",
    owned_by: model.owned_by ?? kinds.get(model.deployments[0]?.provider ?? "") ?? "sluice",
    fallbacks: JSON.stringify(model.fallbacks ?? []),
    max_output_tokens: model.max_output_tokens ?? null,
    context_window: model.context_window ?? null,
    // Set by setPrice.
    price_version: before?.price_version ?? null,
    next_price_version: before?.next_price_version ?? null,
    unpriced: model.unpriced ?? null,
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

/** Names of models in use that fall back to one of these names. */
async function modelsFallingBackTo(connection: Connection, names: ReadonlySet<string>) {
  const rows = await findRows(connection, "models", { managed_by: not("suspended") });
  return rows
    .map((row) => ({
      name: row.name,
      fallbacks: (JSON.parse(row.fallbacks) as string[]).filter((to) => names.has(to)),
    }))
    .filter(({ fallbacks }) => fallbacks.length > 0);
}

function modelView({ price_version: _price, next_price_version: _next, created_at: _at, ...row }: ModelRow) {
  return { ...row, fallbacks: JSON.parse(row.fallbacks) };
}

/** Every model with its deployments and prices, by name. `now` is Unix milliseconds. */
export async function modelRecords(connection: Connection, now: number): Promise<readonly ModelRecord[]> {
  const rows = await findRows(connection, "models", {}, "name");
  const deployments = await findRows(connection, "deployments", {}, "priority", "id");
  const prices = await currentPrices(connection, now);
  const byModel = Map.groupBy(deployments, (row) => row.model);
  return rows.map((row) => recordOf(row, byModel.get(row.name) ?? [], prices.get(row.name)));
}

export async function modelRecord(connection: Connection, name: string, now: number): Promise<ModelRecord | null> {
  const row = await findRow(connection, "models", { name });
  if (row === undefined) return null;
  const deployments = await findRows(connection, "deployments", { model: name }, "priority", "id");
  const prices = await currentPrices(connection, now, name);
  return recordOf(row, deployments, prices.get(name));
}

function recordOf(
  row: ModelRow,
  deployments: readonly Row<"deployments">[],
  { current, next }: ModelPrices = noPrices,
): ModelRecord {
  // Listed one by one, because a later version of the database may have more columns.
  const { name, owned_by, max_output_tokens, context_window, managed_by, created_at } = row;
  return {
    ...{ name, type: row.type as ModelType, owned_by, max_output_tokens, context_window, managed_by, created_at },
    price: current === null ? null : priceOf(current),
    next_price: next === null ? null : priceOf(next),
    unpriced: row.unpriced as ModelRecord["unpriced"],
    fallbacks: JSON.parse(row.fallbacks),
    deployments: deployments.map(({ id, provider, upstream_model, priority, weight, enabled, capabilities }) => ({
      ...{ id, provider, upstream_model, priority, weight },
      enabled: enabled === 1,
      capabilities: capabilities === null ? null : JSON.parse(capabilities),
    })),
  };
}

/** `from`: Unix milliseconds; null: now. */
interface ListPrice {
  readonly model: string;
  readonly price: PriceConfig;
  readonly from: number | null;
}

/** Sets prices from the price list, except if a price was set by hand. Returns the names of the changed models. */
export async function applyListPrices(context: ControlWrite, prices: readonly ListPrice[]): Promise<readonly string[]> {
  const changed = new Set<string>();
  for (const { model, price, from } of prices) {
    const record = await modelRecord(context.transaction, model, context.at);
    if (record === null || !followsPriceList(record)) continue;
    await setPrice(context, model, price, { origin: "price_list", from: from ?? undefined });
    changed.add(model);
  }
  return [...changed];
}

/** Neither a price nor a rule for calls without a price was set by hand. */
function followsPriceList({ price, unpriced }: ModelRecord): boolean {
  return price === null ? unpriced === null : price.origin === "price_list";
}
