import { bestLanguage, bestLocale, isLanguage, type Language } from "./languages.ts";

const storageKey = "sluice.language";

/** The language of this page. It only changes on reload, so modules can create texts and formats once. */
export const language: Language = storedLanguage() ?? bestLanguage(preferred());

/** For `Intl`: the page's language in the browser's regional variant. */
export const locale: string = bestLocale(language, preferred());

/** The language chosen in this browser; null to follow the browser's languages. */
function storedLanguage(): Language | null {
  try {
    const stored = localStorage.getItem(storageKey);
    return isLanguage(stored) ? stored : null;
  } catch {
    // Browsers may block storage, and tests have none.
    return null;
  }
}

/** Sets the console's language; null follows the browser. Reloads the page if the language changes. */
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
