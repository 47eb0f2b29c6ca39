import type { MessageFormatElement } from "@formatjs/icu-messageformat-parser";
import type { TranslatedTexts } from "./texts.ts";

/** English texts load with the pages that show them; another language loads completely before the first render. */
let translated: TranslatedTexts | null = null;
const english = new Map<string, unknown>();

export function useTranslation(texts: TranslatedTexts): void {
  translated = texts;
}

export function addEnglish(area: string, words: unknown): void {
  english.set(area, words);
}

/** A text as written; the build parses texts with placeholders ahead of time. */
export type Text = string | MessageFormatElement[];

/** The text of that name in the language of the page. */
export function textNamed(name: string): Text {
  const found = textAt(name);
  if (found === null) throw new Error(`there is no text ${name}`);
  return found;
}

/** Like `textNamed`, but returns null if the page's language does not have the text. */
export function textAt(name: string): Text | null {
  const [area = "", ...path] = name.split(".");
  let found: unknown = translated === null ? english.get(area) : Reflect.get(translated, area);
  for (const part of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return null;
    found = Reflect.get(found, part);
  }
  return typeof found === "string" || Array.isArray(found) ? found : null;
}
