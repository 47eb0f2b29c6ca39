import { type CatalogueData, readCatalogue } from "./read-catalogue.ts";

let read: CatalogueData | null = null;

/** The catalogue that comes with the program. Loaded when somebody first asks for it: most processes never do. */
export async function bundledCatalogue(): Promise<CatalogueData> {
  if (read === null) {
    const { default: text } = await import("./bundled-catalogue.json", { with: { type: "text" } });
    read = readCatalogue(text as unknown as string);
  }
  return read;
}
