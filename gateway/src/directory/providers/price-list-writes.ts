import type { PriceConfig } from "@sluice/contract/config-file";
import type { AuditSource, ModelRecord, StoredPriceList } from "#ports/index.ts";
import { auditedWrite, putSystemValue, systemValue } from "#storage/tables.ts";
import { type ControlOptions, consoleWrite } from "../control-options.ts";
import { modelRecord, setPriceOver } from "./model-rows.ts";

/** Holds a price list which was taken from elsewhere. */
const rowName = "catalogue.data";

/** null: the one that comes with the program is in use. */
export async function storedPriceList({ database }: ControlOptions): Promise<StoredPriceList | null> {
  const value = await systemValue(database.kysely, rowName);
  return value === null ? null : (JSON.parse(value) as StoredPriceList);
}

export async function storePriceList(
  options: ControlOptions,
  priceList: Omit<StoredPriceList, "takenAt">,
  auditSource: AuditSource,
): Promise<void> {
  const before = await storedPriceList(options);
  await auditedWrite(options, auditSource, async ({ transaction, log, at }) => {
    await putSystemValue(transaction, rowName, JSON.stringify({ ...priceList, takenAt: at }));
    // The config snapshot has context windows from it.
    log.configChanged();
    log.record("update", "setting catalogue", before === null ? null : view(before), view(priceList));
  });
}

/** `from`: Unix milliseconds; null: now. */
interface TakenPrice {
  readonly model: string;
  readonly price: PriceConfig;
  readonly from: number | null;
}

/**
 * Takes prices of a price list. A model whose price somebody has set meanwhile, and one that is gone, keep what they have. Gives the
 * names of those that were changed.
 */
export async function takePrices(
  options: ControlOptions,
  prices: readonly TakenPrice[],
  auditSource: AuditSource,
): Promise<readonly string[]> {
  return await consoleWrite(options, auditSource, async (context) => {
    const taken = new Set<string>();
    for (const { model, price, from } of prices) {
      const record = await modelRecord(context.transaction, model, context.at);
      if (record === null || !isFree(record)) continue;
      await setPriceOver(context, model, price, { origin: "catalogue", from: from ?? undefined });
      taken.add(model);
    }
    return [...taken];
  });
}

/** Nobody has said what it costs, nor that it is to cost nothing. */
function isFree({ price, unpriced }: ModelRecord): boolean {
  return price === null ? unpriced === null : price.origin === "catalogue";
}

function view({ source, digest }: Pick<StoredPriceList, "source" | "digest">) {
  return { source, digest };
}
