import type { MessageFormatElement } from "@formatjs/icu-messageformat-parser";
import type { Catalogue } from "./catalogue.ts";

/** English comes with the pages that show it; another language comes whole before anything is drawn. */
let translated: Catalogue | null = null;
const english = new Map<string, unknown>();

export function useTranslation(catalogue: Catalogue): void {
  translated = catalogue;
}

export function addEnglish(area: string, words: unknown): void {
  english.set(area, words);
}

/** A text as it stands in the catalogue; in a built console one that leaves something open has been read already. */
export type Text = string | MessageFormatElement[];

/** The text of that name in the language of the page. */
export function textNamed(name: string): Text {
  const [area = "", ...path] = name.split(".");
  let found: unknown = translated === null ? english.get(area) : Reflect.get(translated, area);
  for (const part of path) found = (found as Readonly<Record<string, unknown>> | undefined)?.[part];
  if (typeof found !== "string" && !Array.isArray(found)) throw new Error(`the catalogue has no text ${name}`);
  return found;
}
