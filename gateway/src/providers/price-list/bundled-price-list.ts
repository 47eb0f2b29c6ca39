import type { StoredPriceList } from "#ports/index.ts";
import { type PriceListData, readPriceList } from "./read-price-list.ts";

let read: PriceListData | null = null;
/** The stored price list that was read last, by its digest. */
let lastStored: { readonly digest: string; readonly data: PriceListData } | null = null;

/** `stored` null: it came with the program. */
export interface PriceListInUse {
  readonly data: PriceListData;
  readonly stored: StoredPriceList | null;
}

/** The price list in use: what was taken from elsewhere, unless what comes with the program was published since. */
export async function priceListData(stored: StoredPriceList | null): Promise<PriceListInUse> {
  const bundled = await bundledPriceList();
  let inUse: PriceListInUse = { data: bundled, stored: null };
  if (stored !== null && (bundled.publishedAt ?? 0) <= stored.takenAt) {
    if (lastStored?.digest !== stored.digest) lastStored = { digest: stored.digest, data: readPriceList(stored.text) };
    inUse = { data: lastStored.data, stored };
  }
  lastSince = priceListSince(inUse);
  return inUse;
}

/** When its data was published, or else taken, Unix milliseconds; null: neither is known. */
export function priceListSince({ data, stored }: PriceListInUse): number | null {
  return data.publishedAt ?? stored?.takenAt ?? null;
}

let lastSince: number | null = null;

/** The same of the price list that this process used last; null: it has used none. */
export function lastPriceListSince(): number | null {
  return lastSince;
}

/** The price list that comes with the program, loaded when it is first needed. */
export async function bundledPriceList(): Promise<PriceListData> {
  if (read === null) {
    const { default: text } = await import("./bundled-price-list.generated.json", { with: { type: "text" } });
    read = readPriceList(text as unknown as string);
  }
  return read;
}
