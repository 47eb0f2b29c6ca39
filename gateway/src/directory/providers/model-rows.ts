import type { ModelConfig, PriceConfig } from "@sluice/contract/config-file";
import { type ModelType, pricesOf } from "#core/index.ts";
import type { DeploymentRecord, ModelRecord } from "#ports/index.ts";
import { type AuditedObject, type Connection, priceOf, type Row } from "#storage/tables.ts";
import type { ApplyContext } from "../control-options.ts";

export type ModelRow = Row<"models">;

/** Models as every writer writes them. Their prices and deployments have rows and audit rows of their own. */
export const modelObject: AuditedObject<"models"> = {
  table: "models",
  idColumn: "name",
  label: (row) => `model ${row.name}`,
  view: (row) => modelView(row),
  workspaceOf: () => null,
  notify: (log) => log.configChanged(),
};

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
    context_window: model.context_window ?? null,
    // Set by setPrice, which knows whether the version in force still says the same.
    price_version: before?.price_version ?? null,
    next_price_version: before?.next_price_version ?? null,
    unpriced: model.unpriced ?? null,
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

/** Names of models in use that fall back to one of these names. */
export async function modelsLeaningOn(connection: Connection, names: ReadonlySet<string>) {
  const rows = await connection
    .selectFrom("models")
    .select(["name", "fallbacks"])
    .where("managed_by", "!=", "suspended")
    .execute();
  return rows
    .map((row) => ({
      name: row.name,
      fallbacks: (JSON.parse(row.fallbacks) as string[]).filter((to) => names.has(to)),
    }))
    .filter(({ fallbacks }) => fallbacks.length > 0);
}

/**
 * Gives a model another price, from now on or from a later moment. `before`: what it has. The same again changes nothing; what was
 * to begin later is forgotten when another price is set now.
 */
export async function setPrice(
  context: ApplyContext,
  model: string,
  before: ModelPrices,
  price: PriceConfig | null,
  { origin = null, from }: PriceSetting = {},
): Promise<void> {
  const { transaction, log, ids, at } = context;
  const later = from !== undefined && from > at ? from : null;
  const replaced = later === null ? before.inForce : before.next;
  const after = price === null ? null : priceText(price);
  if ((replaced?.price_table ?? null) === after && (later === null || replaced?.effective_from === later)) return;
  const version = after === null ? null : ids.next("prc_");
  if (version !== null && after !== null) {
    const row = { id: version, model, price_table: after, effective_from: later ?? at, origin };
    await transaction.insertInto("prices").values(row).execute();
  }
  await transaction
    .updateTable("models")
    .set({
      price_version: later === null ? version : (before.inForce?.id ?? null),
      next_price_version: later === null ? null : version,
    })
    .where("name", "=", model)
    .execute();
  // It never was in force, so nothing was charged by it.
  if (before.next !== null) await transaction.deleteFrom("prices").where("id", "=", before.next.id).execute();
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
  readonly origin?: "catalogue" | null;
  /** Unix milliseconds; left out, or past: now. */
  readonly from?: number | undefined;
}

/** The same, where nobody has read what the model has. */
export async function setPriceOver(
  context: ApplyContext,
  model: string,
  price: PriceConfig | null,
  setting: PriceSetting = {},
): Promise<void> {
  const before = await pricesInForce(context.transaction, context.at, model);
  await setPrice(context, model, before.get(model) ?? noPrices, price, setting);
}

/** What was to begin later does not. */
export async function dropNextPrice(context: ApplyContext, model: string): Promise<void> {
  const { transaction, log } = context;
  const { inForce, next } = (await pricesInForce(transaction, context.at, model)).get(model) ?? noPrices;
  if (next === null) return;
  const kept = { price_version: inForce?.id ?? null, next_price_version: null };
  await transaction.updateTable("models").set(kept).where("name", "=", model).execute();
  await transaction.deleteFrom("prices").where("id", "=", next.id).execute();
  const before = priceView(next.id, next.price_table);
  log.record("set-price", `model ${model}`, before === null ? null : { ...before, from: next.effective_from }, null);
  log.configChanged();
}

/** As a version stores it: equal prices are equal text. */
function priceText(price: PriceConfig): string {
  const { table, variants } = pricesOf(price);
  return JSON.stringify({ ...table, ...(variants === undefined ? {} : { variants }) });
}

function priceView(version: string | null, table: string | null) {
  return version === null || table === null ? null : { version, pico_usd: JSON.parse(table) };
}

function modelView(row: ModelRow) {
  return {
    name: row.name,
    type: row.type,
    owned_by: row.owned_by,
    fallbacks: JSON.parse(row.fallbacks),
    max_output_tokens: row.max_output_tokens,
    context_window: row.context_window,
    unpriced: row.unpriced,
    managed_by: row.managed_by,
  };
}

/** Every model with its deployments and prices, by name. `now` is Unix milliseconds. */
export async function modelRecords(connection: Connection, now: number): Promise<readonly ModelRecord[]> {
  const rows = await connection.selectFrom("models").selectAll().orderBy("name").execute();
  const deployments = await connection
    .selectFrom("deployments")
    .selectAll()
    .orderBy("priority")
    .orderBy("id")
    .execute();
  const prices = await pricesInForce(connection, now);
  const byModel = Map.groupBy(deployments, (row) => row.model);
  return rows.map((row) => recordOf(row, byModel.get(row.name) ?? [], prices.get(row.name)));
}

export async function modelRecord(connection: Connection, name: string, now: number): Promise<ModelRecord | null> {
  const row = await connection.selectFrom("models").selectAll().where("name", "=", name).executeTakeFirst();
  if (row === undefined) return null;
  const deployments = await connection
    .selectFrom("deployments")
    .selectAll()
    .where("model", "=", name)
    .orderBy("priority")
    .orderBy("id")
    .execute();
  const prices = await pricesInForce(connection, now, name);
  return recordOf(row, deployments, prices.get(name));
}

function recordOf(
  row: Row<"models">,
  deployments: readonly Row<"deployments">[],
  { inForce, next }: ModelPrices = noPrices,
): ModelRecord {
  return {
    name: row.name,
    type: row.type as ModelType,
    ownedBy: row.owned_by,
    fallbacks: JSON.parse(row.fallbacks),
    outputTokensMax: row.max_output_tokens,
    contextWindow: row.context_window,
    unpriced: row.unpriced as ModelRecord["unpriced"],
    price: inForce === null ? null : priceOf(inForce),
    nextPrice: next === null ? null : priceOf(next),
    deployments: deployments.map(deploymentOf),
    managedBy: row.managed_by,
    createdAt: row.created_at,
  };
}

function deploymentOf(row: Row<"deployments">): DeploymentRecord {
  return {
    id: row.id,
    provider: row.provider,
    upstreamModel: row.upstream_model,
    priority: row.priority,
    weight: row.weight,
    enabled: row.enabled === 1,
    capabilities: row.capabilities === null ? null : JSON.parse(row.capabilities),
  };
}

/** The price of a model at a moment, and one that begins later. */
export interface ModelPrices {
  readonly inForce: Row<"prices"> | null;
  readonly next: Row<"prices"> | null;
}

export const noPrices: ModelPrices = Object.freeze({ inForce: null, next: null });

/** By model, of those that have any; of one model alone where it is named. `now` is Unix milliseconds. */
export async function pricesInForce(
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
  const found = new Map<string, ModelPrices>();
  for (const { owner, next, ...row } of await query.execute()) {
    const known = found.get(owner) ?? noPrices;
    if (row.id !== next) found.set(owner, { inForce: known.inForce ?? row, next: known.next });
    else if (row.effective_from <= now) found.set(owner, { inForce: row, next: null });
    else found.set(owner, { ...known, next: row });
  }
  return found;
}
