/**
 * language: every word that the console shows, in each language whole. Texts stand in one file per area and language; a file of
 * the console takes `t` and `Rich` from `language/areas/`, so that English comes with the pages that show it. Tests find what
 * is shown without being in the catalogue, and what is not translated.
 */

export { language, locale, showIn } from "./chosen.ts";
export { isLanguage, type Language, languages } from "./languages.ts";
