import { type ConsoleLanguage, consoleLanguages, isConsoleLanguage } from "@sluice/contract/console/languages";

export type Language = ConsoleLanguage;
export const languages = consoleLanguages;
export const isLanguage = isConsoleLanguage;

/** The first of the browser's languages that the console supports, or English. */
export function bestLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const found = languages.find(({ id }) => baseOf(id) === baseOf(tag));
    if (found !== undefined) return found.id;
  }
  return "en";
}

/**
 * The locale for dates and numbers: the browser's variant of the page's language (`en-GB` dates differ from `en-US`), so
 * that a page never mixes two languages.
 */
export function bestLocale(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => isLocale(tag) && baseOf(tag) === baseOf(language)) ?? language;
}

const baseOf = (tag: string): string => tag.toLowerCase().split(/[-_]/, 1)[0] ?? "";

/** Browsers may report invalid language tags, for which `Intl` throws. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
