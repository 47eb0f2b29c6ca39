import type { StoredCatalogue } from "#ports/index.ts";
import { type CatalogueData, readCatalogue } from "./read-catalogue.ts";

let read: CatalogueData | null = null;
/** The stored catalogue that was read last, by its digest. */
let lastStored: { readonly digest: string; readonly data: CatalogueData } | null = null;

/** The catalogue in use: the one that was taken from elsewhere, or the one that comes with the program. */
export async function catalogueData(stored: StoredCatalogue | null): Promise<CatalogueData> {
  if (stored === null) return await bundledCatalogue();
  if (lastStored?.digest !== stored.digest) lastStored = { digest: stored.digest, data: readCatalogue(stored.text) };
  return lastStored.data;
}

/** The catalogue that comes with the program, loaded when it is first needed. */
export async function bundledCatalogue(): Promise<CatalogueData> {
  if (read === null) {
    const { default: text } = await import("./bundled-catalogue.json", { with: { type: "text" } });
    read = readCatalogue(text as unknown as string);
  }
  return read;
}
