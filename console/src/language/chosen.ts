import { bestLanguage, bestLocale, isLanguage, type Language } from "./languages.ts";

const storageKey = "sluice.language";

/**
 * The language of this page. It stays as it is until the page is loaded again, so words and formats may be made once, when
 * their module is loaded.
 */
export const language: Language = keptLanguage() ?? bestLanguage(preferred());

/** For `Intl`: the language of this page, as the browser's owner writes it. */
export const locale: string = bestLocale(language, preferred());

/** What was chosen in this browser. null: nothing, so the browser's own languages decide. */
function keptLanguage(): Language | null {
  try {
    const kept = localStorage.getItem(storageKey);
    return isLanguage(kept) ? kept : null;
  } catch {
    // There is no storage where the browser refuses it, and none in tests.
    return null;
  }
}

/** Shows the console in another language. null goes back to what the browser prefers. Loads the page again when it must. */
export function showIn(chosen: Language | null): void {
  try {
    if (chosen === null) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, chosen);
  } catch {
    return;
  }
  if ((chosen ?? bestLanguage(preferred())) !== language) location.reload();
}

function preferred(): readonly string[] {
  return typeof navigator === "undefined" ? [] : (navigator.languages ?? []);
}
