import type { ModelConfig, ProviderConfig } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import { Failure, type PriceVersion } from "#core/index.ts";

import type { AuditSource, ModelDraft, ModelRecord } from "#ports/index.ts";
import { insertRows, priceOf, reconcile, removeRows, suspendRows, updateRow } from "#storage/tables.ts";

import { type ApplyContext, type ControlOptions, consoleWrite } from "../control-options.ts";
import { refuseDraft, refuseFileDeclared, refuseSuspended } from "../refusals.ts";
import { applyDeployments, removeDeployments } from "./deployments.ts";
import {
  dropNextPrice,
  type ModelRow,
  modelObject,
  modelRecord,
  modelRow,
  modelsLeaningOn,
  noPrices,
  pricesInForce,
  setPrice,
  setPriceOver,
} from "./model-rows.ts";

/** All prices that the model has had, newest first. */
export async function listPrices({ database }: ControlOptions, model: string): Promise<readonly PriceVersion[]> {
  const rows = await database.kysely
    .selectFrom("prices")
    .selectAll()
    .where("model", "=", model)
    .orderBy("effective_from", "desc")
    .orderBy("id", "desc")
    .limit(pricesMax)
    .execute();
  return rows.map(priceOf);
}

/** Versions that a list shows. */
const pricesMax = 1_000;

export async function createModel(
  options: ControlOptions,
  draft: ModelDraft,
  auditSource: AuditSource,
): Promise<ModelRecord> {
  return await consoleWrite(options, auditSource, (context) => insertModel(context, draft));
}

/** `origin`: of its price. */
export async function insertModel(
  context: ApplyContext,
  draft: ModelDraft,
  origin: "catalogue" | null = null,
): Promise<ModelRecord> {
  const { transaction } = context;
  const taken = await transaction
    .selectFrom("models")
    .select("managed_by")
    .where("name", "=", draft.name)
    .executeTakeFirst();
  if (taken !== undefined) {
    refuseSuspended(taken, `model ${draft.name}`);
    throw new Failure("conflict", `There is already a model ${draft.name}.`, { param: "name" });
  }
  const row = await checkedRow(context, draft, undefined);
  await insertRows(context, modelObject, [row]);
  return await writeParts(context, draft, origin);
}

export async function updateModel(
  options: ControlOptions,
  name: string,
  change: (before: ModelRecord) => ModelDraft,
  auditSource: AuditSource,
): Promise<ModelRecord> {
  return await consoleWrite(options, auditSource, async (context) => {
    const before = await ownRow(context, name);
    refuseSuspended(before, `model ${name}`);
    const record = await modelRecord(context.transaction, name, context.at);
    if (record === null) throw noModel();
    const draft = change(record);
    const checked = await checkedRow(context, draft, before, record.fallbacks);
    const after = { ...checked, unpriced: draft.unpriced === undefined ? before.unpriced : draft.unpriced };
    await updateRow(context, modelObject, { before, after });
    return await writeParts(context, draft);
  });
}

/** Throws `conflict` while another model falls back to it. */
export async function removeModel(options: ControlOptions, name: string, auditSource: AuditSource): Promise<void> {
  await consoleWrite(options, auditSource, async (context) => {
    const row = await ownRow(context, name);
    const leaning = await modelsLeaningOn(context.transaction, new Set([name]));
    if (leaning.length > 0) {
      const names = leaning.slice(0, namedMax).map((other) => other.name);
      const more = leaning.length > namedMax ? " and others" : "";
      throw new Failure("conflict", `Other models fall back to it: ${names.join(", ")}${more}. Change them first.`);
    }
    await removeDeployments(context, name);
    await removeRows(context, modelObject, [row]);
  });
}

/** Models that a refusal names. */
const namedMax = 5;

async function ownRow(context: ApplyContext, name: string): Promise<ModelRow> {
  const row = await context.transaction.selectFrom("models").selectAll().where("name", "=", name).executeTakeFirst();
  if (row === undefined) throw noModel();
  refuseFileDeclared(row, `model ${name}`);
  return row;
}

function noModel(): Failure {
  return new Failure("not_found", "There is no such model.", { param: "model" });
}

/**
 * The same checks as of a config file, against the providers and models that are there. A fallback that the model already
 * had may be one that is gone since: whoever changes something else is not held up by it.
 */
async function checkedRow(
  context: ApplyContext,
  draft: ModelDraft,
  before: ModelRow | undefined,
  fallbacksBefore: readonly string[] = [],
): Promise<ModelRow> {
  const { transaction } = context;
  const providerIds = [...new Set(draft.deployments.map((deployment) => deployment.provider))];
  const providers = await transaction
    .selectFrom("providers")
    .select(["id", "kind"])
    .where("id", "in", providerIds)
    .where("managed_by", "!=", "suspended")
    .execute();
  const fallbacks = draft.fallbacks ?? [];
  const found =
    fallbacks.length === 0
      ? []
      : await transaction
          .selectFrom("models")
          .select("name")
          .where("name", "in", fallbacks)
          .where("managed_by", "!=", "suspended")
          .execute();
  const known = new Set([...found.map((row) => row.name), ...fallbacksBefore]);
  known.delete(draft.name);
  const others = [...known].map((name): ModelConfig => ({ name, deployments: [] }));
  const config = configOf(draft);
  refuseDraft(conflictsOf({ providers: providers as ProviderConfig[], models: [config, ...others] }), 2);
  const kinds = new Map(providers.map((provider) => [provider.id, provider.kind]));
  return modelRow(context, config, kinds, before);
}

/** Price and deployments, once the model's own row stands. */
async function writeParts(
  context: ApplyContext,
  draft: ModelDraft,
  origin: "catalogue" | null = null,
): Promise<ModelRecord> {
  const { name, price, next_price: next } = draft;
  if (price !== undefined) await setPriceOver(context, name, price, { origin });
  if (next === null) await dropNextPrice(context, name);
  else if (next !== undefined) {
    if (next.from <= context.at)
      throw new Failure("invalid_request", "A next price begins later.", { param: "next_price" });
    await setPriceOver(context, name, next.price, { from: next.from });
  }
  await applyDeployments(context, [configOf(draft)]);
  const record = await modelRecord(context.transaction, draft.name, context.at);
  if (record === null) throw noModel();
  return record;
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

/** Models with their prices and deployments. A model that vanished is suspended with them. */
export async function applyModels(
  context: ApplyContext,
  models: readonly ModelConfig[],
  providers: readonly ProviderConfig[],
): Promise<void> {
  const existing = await context.transaction.selectFrom("models").selectAll().execute();
  const byName = new Map(existing.map((row) => [row.name, row]));
  const kinds = new Map(providers.map((provider) => [provider.id, provider.kind]));
  const wanted = models.map((model) => modelRow(context, model, kinds, byName.get(model.name)));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.name);
  await insertRows(context, modelObject, create);
  for (const change of update) await updateRow(context, modelObject, change);
  await applyPrices(context, models, byName);
  await applyDeployments(context, models);
  await suspendModels(context, vanished);
}

/** A model that others, made elsewhere, fall back to is handed over instead of suspended. */
async function suspendModels(context: ApplyContext, vanished: readonly ModelRow[]): Promise<void> {
  if (vanished.length === 0) return;
  const gone = new Set(vanished.map((row) => row.name));
  const leaning = await modelsLeaningOn(context.transaction, gone);
  // What is handed over keeps its own fallbacks too.
  let held: string[];
  do {
    held = leaning.flatMap(({ name, fallbacks }) => (gone.has(name) ? [] : fallbacks)).filter((name) => gone.has(name));
    for (const name of held) gone.delete(name);
  } while (held.length > 0);
  for (const row of vanished) {
    if (gone.has(row.name)) await suspendRows(context, modelObject, [row]);
    else await updateRow(context, modelObject, { before: row, after: { ...row, managed_by: "console" } });
  }
}

/**
 * A changed price becomes a new version; the old one stays, since entries were paid by it. A next price whose time has come is the
 * price, as long as the file says it.
 */
async function applyPrices(
  context: ApplyContext,
  models: readonly ModelConfig[],
  byName: ReadonlyMap<string, ModelRow>,
): Promise<void> {
  const prices = await pricesInForce(context.transaction, context.at);
  for (const model of models) {
    const before = byName.has(model.name) ? (prices.get(model.name) ?? noPrices) : noPrices;
    const { next_price: next } = model;
    const from = next === undefined ? null : Date.parse(next.from);
    const isDue = from !== null && from <= context.at;
    const price = isDue ? next?.price : model.price;
    // A file that says nothing of a price leaves one that was taken from the price list.
    const keepsPriceList = price === undefined && (before.inForce ?? before.next)?.origin === "catalogue";
    if (!keepsPriceList) await setPrice(context, model.name, before, price ?? null);
    if (next !== undefined && from !== null && !isDue) await setPriceOver(context, model.name, next.price, { from });
    else if (before.next !== null && !keepsPriceList) await dropNextPrice(context, model.name);
  }
}
