import type { PriceTable, PriceVersion } from "#core/index.ts";
import type { Connection } from "./database.ts";
import type { Row } from "./schema.ts";

export function priceOf(row: Row<"prices">): PriceVersion {
  const table: PriceTable = Object.freeze(JSON.parse(row.price_table));
  return Object.freeze({ id: row.id, model: row.model, table, effectiveFrom: row.effective_from });
}

/** Reads price versions by id and remembers the last ones: they never change. */
export function priceReader(connection: Connection): (versionId: string) => Promise<PriceVersion | null> {
  const known = new Map<string, PriceVersion>();
  return async (versionId) => {
    const remembered = known.get(versionId);
    if (remembered !== undefined) return remembered;
    const row = await connection.selectFrom("prices").selectAll().where("id", "=", versionId).executeTakeFirst();
    if (row === undefined) return null;
    const price = priceOf(row);
    if (known.size >= versionsMax) known.clear();
    known.set(versionId, price);
    return price;
  };
}

const versionsMax = 10_000;
