import {
  BoundedMap,
  baseVersionId,
  type PriceTable,
  type PriceVersion,
  pricePerCallNamed,
  variantNamed,
} from "#core/index.ts";
import type { Connection } from "./database.ts";
import type { Row } from "./schema.ts";

export function priceOf(row: Row<"prices">): PriceVersion {
  const { variants, ...table } = JSON.parse(row.price_table) as PriceTable & Pick<PriceVersion, "variants">;
  return Object.freeze({
    id: row.id,
    model: row.model,
    table: Object.freeze(table),
    ...(variants === undefined ? {} : { variants }),
    effectiveFrom: row.effective_from,
    ...(row.origin === "price_list" ? { origin: row.origin } : {}),
  });
}

/** Reads and caches price versions, which never change. */
export function priceReader(connection: Connection): (versionId: string) => Promise<PriceVersion | null> {
  const cached = new BoundedMap<string, PriceVersion>(versionsMax);
  return async (versionId) => {
    const remembered = cached.get(versionId);
    if (remembered !== undefined) return remembered;
    const perCall = pricePerCallNamed(versionId);
    if (perCall !== null) return perCall;
    const base = baseVersionId(versionId);
    const row = await connection.selectFrom("prices").selectAll().where("id", "=", base).executeTakeFirst();
    const price = row === undefined ? null : variantNamed(priceOf(row), versionId);
    if (price === null) return null;
    cached.set(versionId, price);
    return price;
  };
}

const versionsMax = 10_000;
