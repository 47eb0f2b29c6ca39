/**
 * language: all texts of the console, in each language. There is one file per area and language. Import `t` and `Rich` from
 * `language/areas/`, so that each page loads only the English that it shows. Tests find hard-coded and untranslated texts.
 */

export { language, locale, showIn } from "./chosen.ts";
export { isLanguage, type Language, languages } from "./languages.ts";
