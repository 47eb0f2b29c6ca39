import type { StoredCatalogue } from "#ports/index.ts";
import { type CatalogueData, readCatalogue } from "./read-catalogue.ts";

let read: CatalogueData | null = null;
/** The stored catalogue that was read last, by its digest. */
let lastStored: { readonly digest: string; readonly data: CatalogueData } | null = null;

/** `stored` null: it came with the program. */
export interface CatalogueInUse {
  readonly data: CatalogueData;
  readonly stored: StoredCatalogue | null;
}

/** The catalogue in use: what was taken from elsewhere, unless what comes with the program was published since. */
export async function catalogueData(stored: StoredCatalogue | null): Promise<CatalogueInUse> {
  const bundled = await bundledCatalogue();
  let inUse: CatalogueInUse = { data: bundled, stored: null };
  if (stored !== null && (bundled.publishedAt ?? 0) <= stored.takenAt) {
    if (lastStored?.digest !== stored.digest) lastStored = { digest: stored.digest, data: readCatalogue(stored.text) };
    inUse = { data: lastStored.data, stored };
  }
  lastSince = catalogueSince(inUse);
  return inUse;
}

/** When its data was published, or else taken, Unix milliseconds; null: neither is known. */
export function catalogueSince({ data, stored }: CatalogueInUse): number | null {
  return data.publishedAt ?? stored?.takenAt ?? null;
}

let lastSince: number | null = null;

/** The same of the catalogue that this process used last; null: it has used none. */
export function lastCatalogueSince(): number | null {
  return lastSince;
}

/** The catalogue that comes with the program, loaded when it is first needed. */
export async function bundledCatalogue(): Promise<CatalogueData> {
  if (read === null) {
    const { default: text } = await import("./bundled-catalogue.generated.json", { with: { type: "text" } });
    read = readCatalogue(text as unknown as string);
  }
  return read;
}
