import type { ModelConfig, PriceConfig, ProviderConfig } from "@sluice/contract/config-file";
import { pricesOf } from "#core/index.ts";
import { chunksOf, reconcile, updateAction } from "../../database/reconcile.ts";
import type { Row } from "../../database/schema.ts";
import type { ApplyContext } from "./apply-context.ts";
import { applyDeployments, removeDeployments } from "./apply-deployments.ts";

export type ModelRow = Row<"models">;

/** Models with their prices and deployments. A model that vanished goes; its price versions stay. */
export async function applyModels(
  context: ApplyContext,
  models: readonly ModelConfig[],
  providers: readonly ProviderConfig[],
): Promise<void> {
  const { transaction, log } = context;
  const existing = await transaction.selectFrom("models").selectAll().execute();
  const byName = new Map(existing.map((row) => [row.name, row]));
  const kinds = new Map(providers.map((provider) => [provider.id, provider.kind]));
  const wanted = models.map((model) => modelRow(context, model, kinds, byName.get(model.name)));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.name);
  for (const chunk of chunksOf(create))
    await transaction
      .insertInto("models")
      .values([...chunk])
      .execute();
  for (const row of create) log.record("create", `model ${row.name}`, null, modelView(row));
  for (const { before, after } of update) {
    await transaction.updateTable("models").set(after).where("name", "=", after.name).execute();
    log.record(updateAction(before), `model ${after.name}`, modelView(before), modelView(after));
  }
  await applyPrices(context, models, byName);
  await applyDeployments(context, models);
  for (const row of vanished) {
    await removeDeployments(context, row.name);
    await transaction.deleteFrom("models").where("name", "=", row.name).execute();
    log.record("remove", `model ${row.name}`, modelView(row), null);
  }
  if (create.length + update.length + vanished.length > 0) log.catalogChanged();
}

export function modelRow(
  context: ApplyContext,
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
    // Set by applyPrices, which knows whether the version in force still says the same.
    price_version: before?.price_version ?? null,
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

/** A changed price becomes a new version; the old one stays, since entries were paid by it. */
async function applyPrices(
  context: ApplyContext,
  models: readonly ModelConfig[],
  byName: ReadonlyMap<string, ModelRow>,
): Promise<void> {
  const versions = await context.transaction
    .selectFrom("prices")
    .innerJoin("models", "models.price_version", "prices.id")
    .select(["prices.id", "prices.price_table"])
    .execute();
  const tables = new Map(versions.map((row) => [row.id, row.price_table]));
  for (const model of models) {
    const version = byName.get(model.name)?.price_version ?? null;
    const table = version === null ? null : (tables.get(version) ?? null);
    await setPrice(context, model.name, { version, table }, model.price ?? null);
  }
}

/** `before` is what is in force, null where nothing is. The same price again changes nothing. */
export async function setPrice(
  { transaction, log, ids, at }: ApplyContext,
  model: string,
  before: { readonly version: string | null; readonly table: string | null },
  price: PriceConfig | null,
): Promise<void> {
  const after = price === null ? null : priceText(price);
  if (before.table === after) return;
  const version = after === null ? null : ids.next("prc_");
  if (version !== null && after !== null) {
    const row = { id: version, model, price_table: after, effective_from: at };
    await transaction.insertInto("prices").values(row).execute();
  }
  await transaction.updateTable("models").set({ price_version: version }).where("name", "=", model).execute();
  log.record("set-price", `model ${model}`, priceView(before.version, before.table), priceView(version, after));
  log.catalogChanged();
}

/** As a version stores it: equal prices are equal text. */
function priceText(price: PriceConfig): string {
  const { table, variants } = pricesOf(price);
  return JSON.stringify({ ...table, ...(variants === undefined ? {} : { variants }) });
}

export function modelView(row: ModelRow) {
  return {
    name: row.name,
    type: row.type,
    owned_by: row.owned_by,
    fallbacks: JSON.parse(row.fallbacks),
    max_output_tokens: row.max_output_tokens,
    managed_by: row.managed_by,
  };
}

function priceView(version: string | null, table: string | null) {
  return version === null || table === null ? null : { version, pico_usd: JSON.parse(table) };
}
