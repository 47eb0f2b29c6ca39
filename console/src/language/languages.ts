import { type ConsoleLanguage, consoleLanguages, isConsoleLanguage } from "@sluice/contract/console/languages";

export type Language = ConsoleLanguage;
export const languages = consoleLanguages;
export const isLanguage = isConsoleLanguage;

/** The first of the browser's languages that the console speaks; English when it speaks none of them. */
export function bestLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const found = languages.find(({ id }) => baseOf(id) === baseOf(tag));
    if (found !== undefined) return found.id;
  }
  return "en";
}

/**
 * What dates and numbers follow: the browser's own variant of the language (`en-GB` writes dates otherwise than `en-US`), so
 * that words and figures of a page are never of two languages.
 */
export function bestLocale(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => isLocale(tag) && baseOf(tag) === baseOf(language)) ?? language;
}

const baseOf = (tag: string): string => tag.toLowerCase().split(/[-_]/, 1)[0] ?? "";

/** A browser may name what is no language tag; `Intl` throws at that. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
