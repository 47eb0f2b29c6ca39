import type { ModelConfig, PriceConfig } from "@sluice/contract/config-file";
import { pricesOf } from "#core/index.ts";
import type { AuditedObject } from "../../changes/audited-rows.ts";
import type { Connection } from "../../database/database.ts";
import type { Row } from "../../database/schema.ts";
import type { ApplyContext } from "../control-options.ts";

export type ModelRow = Row<"models">;

/** Models as every writer writes them. Their prices and deployments have rows and audit rows of their own. */
export const modelObject: AuditedObject<"models"> = {
  table: "models",
  idColumn: "name",
  label: (row) => `model ${row.name}`,
  view: (row) => modelView(row),
  workspaceOf: () => null,
  notify: (log) => log.catalogChanged(),
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
    unpriced: model.unpriced ?? keptMark(before),
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

/** A file that says nothing of it does not stop what an upgrade kept callable. */
function keptMark(before: ModelRow | undefined): string | null {
  return before?.unpriced === "upgrade" ? before.unpriced : null;
}

/** Names of models that fall back to one of these names. */
export async function modelsLeaningOn(connection: Connection, names: ReadonlySet<string>) {
  const rows = await connection.selectFrom("models").select(["name", "fallbacks"]).execute();
  return rows
    .map((row) => ({
      name: row.name,
      fallbacks: (JSON.parse(row.fallbacks) as string[]).filter((to) => names.has(to)),
    }))
    .filter(({ fallbacks }) => fallbacks.length > 0);
}

/** `before` is what is in force, null where nothing is. The same price again changes nothing. */
export async function setPrice(
  { transaction, log, ids, at }: ApplyContext,
  model: string,
  before: { readonly version: string | null; readonly table: string | null },
  price: PriceConfig | null,
  origin: "catalogue" | null = null,
): Promise<void> {
  const after = price === null ? null : priceText(price);
  if (before.table === after) return;
  const version = after === null ? null : ids.next("prc_");
  if (version !== null && after !== null) {
    const row = { id: version, model, price_table: after, effective_from: at, origin };
    await transaction.insertInto("prices").values(row).execute();
  }
  await transaction.updateTable("models").set({ price_version: version }).where("name", "=", model).execute();
  if (version !== null) {
    // Once it has a price, that it came without one is over.
    await transaction
      .updateTable("models")
      .set({ unpriced: null })
      .where("name", "=", model)
      .where("unpriced", "=", "upgrade")
      .execute();
  }
  const now = priceView(version, after);
  log.record(
    "set-price",
    `model ${model}`,
    priceView(before.version, before.table),
    now === null || origin === null ? now : { ...now, origin },
  );
  log.catalogChanged();
}

/** The same, where only the version in force is known. */
export async function setPriceOver(
  context: ApplyContext,
  model: string,
  version: string | null,
  price: PriceConfig | null,
  origin: "catalogue" | null,
): Promise<void> {
  const row =
    version === null
      ? undefined
      : await context.transaction
          .selectFrom("prices")
          .select("price_table")
          .where("id", "=", version)
          .executeTakeFirst();
  await setPrice(context, model, { version, table: row?.price_table ?? null }, price, origin);
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
