import type { Connection, Row } from "#storage/tables.ts";

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
