import { expect, test } from "bun:test";
import { bestLanguage, bestLocale } from "./languages.ts";

test.each([
  [["zh-CN", "en"], "zh-CN", "zh-CN"],
  [["zh"], "zh-CN", "zh"],
  [["zh-Hans-SG", "en-GB"], "zh-CN", "zh-Hans-SG"],
  [["de-AT", "zh-CN"], "zh-CN", "zh-CN"],
  [["en-GB", "zh-CN"], "en", "en-GB"],
  [["de-AT", "fr"], "en", "en"],
  [["ZH_cn"], "zh-CN", "zh-CN"],
  [["*", ""], "en", "en"],
  [[], "en", "en"],
] as const)("%j reads %s, and writes dates as %s", (preferred, language, locale) => {
  expect(bestLanguage(preferred)).toBe(language);
  expect(bestLocale(language, preferred)).toBe(locale);
});
