import type { ModelConfig, PriceConfig } from "@sluice/contract/config-file";
import { type PriceVersion, pricesOf } from "#core/index.ts";
import type { StoredPriceList } from "#ports/index.ts";
import { type Connection, priceOf, putSystemValue, type Row, systemValue } from "#storage/tables.ts";
import { deleteRows, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";

/** The current price of a model, and the scheduled next one. */
export interface ModelPrices {
  readonly current: Row<"prices"> | null;
  readonly next: Row<"prices"> | null;
}

export const noPrices: ModelPrices = Object.freeze({ current: null, next: null });

/** By model name. Models without a price are missing. `now` is Unix milliseconds. */
export async function currentPrices(
  connection: Connection,
  now: number,
  model?: string,
): Promise<ReadonlyMap<string, ModelPrices>> {
  let query = connection
    .selectFrom("models")
    .innerJoin("prices", (join) =>
      join.on((on) =>
        on.or([
          on("prices.id", "=", on.ref("models.price_version")),
          on("prices.id", "=", on.ref("models.next_price_version")),
        ]),
      ),
    )
    .selectAll("prices")
    .select(["models.name as owner", "models.next_price_version as next"]);
  if (model !== undefined) query = query.where("models.name", "=", model);
  const prices = new Map<string, ModelPrices>();
  for (const { owner, next, ...row } of await query.execute()) {
    const before = prices.get(owner) ?? noPrices;
    if (row.id !== next) prices.set(owner, { current: before.current ?? row, next: before.next });
    else if (row.effective_from <= now) prices.set(owner, { current: row, next: null });
    else prices.set(owner, { ...before, next: row });
  }
  return prices;
}

/** Sets the price of a model, now or scheduled. Setting it now drops a scheduled price. `prices`: its prices, if already read. */
export async function setPrice(
  context: ControlWrite,
  model: string,
  price: PriceConfig | null,
  { origin = null, from }: PriceSetting = {},
  prices?: ModelPrices,
): Promise<void> {
  const { transaction, log, ids, at } = context;
  const before = prices ?? (await pricesOfModel(context, model));
  const later = from !== undefined && from > at ? from : null;
  const replaced = later === null ? before.current : before.next;
  const after = price === null ? null : priceText(price);
  const isSame = (replaced?.price_table ?? null) === after && (later === null || replaced?.effective_from === later);
  // A price that was set manually may become the price list's, with the same figures.
  if (isSame && (origin === null || replaced?.origin === origin)) return;
  const version = after === null ? null : ids.next("prc_");
  if (version !== null && after !== null) {
    const row = { id: version, model, price_table: after, effective_from: later ?? at, origin };
    await transaction.insertInto("prices").values(row).execute();
  }
  const versions = {
    price_version: later === null ? version : (before.current?.id ?? null),
    next_price_version: later === null ? null : version,
  };
  await setColumns(transaction, "models", { name: model }, versions);
  // The replaced next price was never current, so nothing was charged at it.
  if (before.next !== null) await deleteRows(transaction, "prices", { id: before.next.id });
  const now = priceView(version, after);
  log.record(
    "set-price",
    `model ${model}`,
    priceView(replaced?.id ?? null, replaced?.price_table ?? null),
    now === null ? now : { ...now, ...(origin === null ? {} : { origin }), ...(later === null ? {} : { from: later }) },
  );
  log.configChanged();
}

interface PriceSetting {
  readonly origin?: "price_list" | null;
  /** Unix milliseconds; now if left out or in the past. */
  readonly from?: number | undefined;
}

async function pricesOfModel({ transaction, at }: ControlWrite, model: string): Promise<ModelPrices> {
  return (await currentPrices(transaction, at, model)).get(model) ?? noPrices;
}

export async function dropNextPrice(context: ControlWrite, model: string): Promise<void> {
  const { transaction, log } = context;
  const { current, next } = await pricesOfModel(context, model);
  if (next === null) return;
  const versions = { price_version: current?.id ?? null, next_price_version: null };
  await setColumns(transaction, "models", { name: model }, versions);
  await deleteRows(transaction, "prices", { id: next.id });
  const before = priceView(next.id, next.price_table);
  log.record("set-price", `model ${model}`, before === null ? null : { ...before, from: next.effective_from }, null);
  log.configChanged();
}

/** Equal prices give equal text. */
function priceText(price: PriceConfig): string {
  const { table, variants } = pricesOf(price);
  return JSON.stringify({ ...table, ...(variants === undefined ? {} : { variants }) });
}

function priceView(version: string | null, table: string | null) {
  return version === null || table === null ? null : { version, pico_usd: JSON.parse(table) };
}

/** Past and current prices of a model, newest first, up to 1,000. */
export async function listPrices({ database }: ControlDirectory, model: string): Promise<readonly PriceVersion[]> {
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

const pricesMax = 1_000;

/** Stores a changed price as a new version, since ledger entries refer to the old one. A next price that is due is the current price. */
export async function applyPrices(
  context: ControlWrite,
  models: readonly ModelConfig[],
  byName: ReadonlyMap<string, object>,
): Promise<void> {
  const prices = await currentPrices(context.transaction, context.at);
  for (const model of models) {
    const before = byName.has(model.name) ? (prices.get(model.name) ?? noPrices) : noPrices;
    const { next_price: next } = model;
    const from = next === undefined ? null : Date.parse(next.from);
    const isDue = from !== null && from <= context.at;
    const price = isDue ? next?.price : model.price;
    // A file without a price keeps a price that came from the price list.
    const keepsPriceList = price === undefined && (before.current ?? before.next)?.origin === "price_list";
    if (!keepsPriceList) await setPrice(context, model.name, price ?? null, {}, before);
    if (next !== undefined && from !== null && !isDue) await setPrice(context, model.name, next.price, { from });
    else if (before.next !== null && !keepsPriceList) await dropNextPrice(context, model.name);
  }
}

const rowName = "price_list.data";

/** null: the built-in price list is in use. */
export async function priceListIn(connection: Connection): Promise<StoredPriceList | null> {
  const value = await systemValue(connection, rowName);
  return value === null ? null : (JSON.parse(value) as StoredPriceList);
}

export async function storePriceList(
  { transaction, log, at }: ControlWrite,
  priceList: Omit<StoredPriceList, "loadedAt">,
): Promise<void> {
  const before = await priceListIn(transaction);
  await putSystemValue(transaction, rowName, JSON.stringify({ ...priceList, loadedAt: at }));
  // The config snapshot has context windows from the price list.
  log.configChanged();
  const view = ({ source, digest }: Pick<StoredPriceList, "source" | "digest">) => ({ source, digest });
  log.record("update", "setting price_list", before === null ? null : view(before), view(priceList));
}
