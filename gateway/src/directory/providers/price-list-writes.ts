import type { ConfigStore, StoredPriceList } from "#ports/index.ts";
import { auditedWrite } from "#storage/tables.ts";
import type { ControlOptions } from "../control-options.ts";
import { modelRecord, setPriceOver } from "./model-rows.ts";

type PriceListWrites = Pick<ConfigStore, "storedPriceList" | "storePriceList" | "takePrices">;

/** The row of `settings` that holds a price list which was taken from elsewhere. No setting of people's: the program's own. */
const rowName = "catalogue.data";

/** The price list, and prices taken from it. */
export function priceListWrites(options: ControlOptions): PriceListWrites {
  const stored = async (kysely = options.database.kysely): Promise<StoredPriceList | null> => {
    const row = await kysely.selectFrom("settings").select("value").where("name", "=", rowName).executeTakeFirst();
    return row === undefined ? null : (JSON.parse(row.value) as StoredPriceList);
  };
  return {
    storedPriceList: () => stored(),
    async storePriceList(priceList, auditSource) {
      const before = await stored();
      await auditedWrite(options, auditSource, async ({ transaction, log, at }) => {
        const row = {
          name: rowName,
          value: JSON.stringify({ ...priceList, takenAt: at }),
          managed_by: "system" as const,
        };
        await transaction
          .insertInto("settings")
          .values(row)
          .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: row.value }))
          .execute();
        // The config snapshot has context windows from it.
        log.configChanged();
        log.record("update", "setting catalogue", before === null ? null : view(before), view(priceList));
      });
    },
    async takePrices(prices, auditSource) {
      return await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
        const taken = new Set<string>();
        for (const { model, price, from } of prices) {
          const record = await modelRecord(context.transaction, model, context.at);
          if (record === null || !isFree(record)) continue;
          await setPriceOver(context, model, price, { origin: "catalogue", from: from ?? undefined });
          taken.add(model);
        }
        return [...taken];
      });
    },
  };
}

/** Nobody has said what it costs, nor that it is to cost nothing. */
function isFree({ price, unpriced }: NonNullable<Awaited<ReturnType<typeof modelRecord>>>): boolean {
  return price === null ? unpriced === null : price.origin === "catalogue";
}

function view({ source, digest }: Pick<StoredPriceList, "source" | "digest">) {
  return { source, digest };
}
