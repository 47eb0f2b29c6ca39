import type { ModelConfig, PriceConfig, ProviderConfig } from "@sluice/contract";
import { type PriceTable, type PriceVariant, usdPerMillionToPico, usdPerUnitToPico } from "#core/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import { applyDeployments, removeDeployments } from "./apply-deployments.ts";
import { chunksOf, reconcile, updateAction } from "./reconcile.ts";
import type { Row } from "./schema.ts";

type ModelRow = Row<"models">;

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

function modelRow(
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
  const { transaction, log } = context;
  const versions = await transaction
    .selectFrom("prices")
    .innerJoin("models", "models.price_version", "prices.id")
    .select(["prices.id", "prices.price_table"])
    .execute();
  const tables = new Map(versions.map((row) => [row.id, row.price_table]));
  for (const model of models) {
    const current = byName.get(model.name)?.price_version ?? null;
    const before = current === null ? null : (tables.get(current) ?? null);
    const after = model.price === undefined ? null : priceText(model.price);
    if (before === after) continue;
    const version = after === null ? null : context.ids.next("prc_");
    if (version !== null && after !== null) {
      const row = { id: version, model: model.name, price_table: after, effective_from: context.at };
      await transaction.insertInto("prices").values(row).execute();
    }
    await transaction.updateTable("models").set({ price_version: version }).where("name", "=", model.name).execute();
    log.record("set-price", `model ${model.name}`, priceView(current, before), priceView(version, after));
    log.catalogChanged();
  }
}

/** Prices of videos of one kind stand beside the table. */
function priceText(price: PriceConfig): string {
  const variants = price.variants?.map(
    ({ resolution, audio, video, output }): PriceVariant => ({
      resolution: resolution ?? null,
      audio: audio ?? null,
      table: {
        ...(video === undefined ? {} : { videoSeconds: usdPerUnitToPico(video) }),
        ...(output === undefined ? {} : { output: usdPerMillionToPico(output) }),
      },
    }),
  );
  return JSON.stringify({ ...priceTableOf(price), ...(variants === undefined ? {} : { variants }) });
}

/**
 * USD as vendors quote it, to pico-USD a unit; classes always in the same order, so that equal prices are equal text.
 * A class of tokens that has no price of its own costs what the plain ones of its side cost: a vendor that counts
 * pictures or cached tokens apart does not give them away.
 */
export function priceTableOf(price: PriceConfig): PriceTable {
  const perMillion = (usd: number | undefined) => (usd === undefined ? undefined : usdPerMillionToPico(usd));
  const perUnit = (usd: number | undefined) => (usd === undefined ? undefined : usdPerUnitToPico(usd));
  const table: { readonly [Class in keyof PriceTable]-?: number | undefined } = {
    inputUncached: perMillion(price.input),
    cacheRead: perMillion(price.cache_read ?? price.input),
    cacheWrite5m: perMillion(price.cache_write_5m ?? price.input),
    cacheWrite1h: perMillion(price.cache_write_1h ?? price.cache_write_5m ?? price.input),
    output: perMillion(price.output),
    audioInput: perMillion(price.audio_input ?? price.input),
    audioOutput: perMillion(price.audio_output ?? price.output),
    imageInput: perMillion(price.image_input ?? price.input),
    imageOutput: perMillion(price.image_output ?? price.output),
    images: perUnit(price.image),
    videoSeconds: perUnit(price.video),
  };
  return Object.fromEntries(Object.entries(table).filter(([, pico]) => pico !== undefined));
}

function modelView(row: ModelRow) {
  return {
    name: row.name,
    type: row.type,
    owned_by: row.owned_by,
    fallbacks: JSON.parse(row.fallbacks),
    managed_by: row.managed_by,
  };
}

function priceView(version: string | null, table: string | null) {
  return version === null || table === null ? null : { version, pico_usd: JSON.parse(table) };
}
