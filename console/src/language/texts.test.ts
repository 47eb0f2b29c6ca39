import { expect, test } from "bun:test";
import { parse } from "@formatjs/icu-messageformat-parser";
import { en } from "./en/index.ts";
import { holesOf } from "./holes.ts";
import { zhCN } from "./zh-CN/index.ts";

const texts = (words: unknown, name = ""): [string, string][] =>
  typeof words === "string"
    ? [[name, words]]
    : Object.entries(words as object).flatMap(([key, inner]) => texts(inner, name === "" ? key : `${name}.${key}`));
const allEnglish = texts(en);
const english = new Map(allEnglish);
// English texts of provider forms come from the gateway.
const { kinds, ...translated } = zhCN;
const chinese = new Map(texts(translated));

const holes = (text: string): string[] => holesOf(parse(text));

test("every text is a valid ICU message in each language", () => {
  for (const words of [english, chinese, new Map(texts(kinds))]) {
    for (const [name, text] of words) {
      expect(() => parse(text), name).not.toThrow();
      expect(text.trim(), name).toBe(text);
      expect(text, name).not.toBe("");
    }
  }
});

test("a translation has the same names and placeholders as English", () => {
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  for (const [name, text] of english) expect(holes(chinese.get(name) ?? ""), name).toEqual(holes(text));
});

/** Names of products, units, codes and examples are the same in every language. */
const sameInAll = /^(?:[^a-z]*|(?: · )?(?:[\w.:/@*{}<>=-]+(?:, |,| \/ | · | )?)*)$/i;

test("every English sentence is translated", () => {
  const left = allEnglish.filter(
    ([name, text]) => chinese.get(name) === text && !sameInAll.test(text.replace(/\{\w+\}|<\/?\w+>/g, "")),
  );
  expect(left).toEqual([]);
  const silent = allEnglish.filter(
    ([name, text]) => / \w+ \w+ /.test(text) && !/\p{Script=Han}/u.test(chinese.get(name) ?? ""),
  );
  expect(silent.map(([name]) => name)).toEqual([]);
});
