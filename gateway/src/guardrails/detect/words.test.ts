import { expect, test } from "bun:test";
import { createDetector } from "./index.ts";

function find(
  words: readonly string[],
  text: string,
  options: { wholeWords?: boolean; ignoreCase?: boolean } = {},
): readonly string[] {
  const detector = createDetector({ kind: "words", words, wholeWords: true, ignoreCase: true, ...options });
  return detector.find(text).map(({ start, end }) => text.slice(start, end));
}

test("finds the longest word or phrase at each place", () => {
  expect(find(["falcon", "falcon nine", "nine"], "Falcon Nine, falcon and nine")).toEqual([
    "Falcon Nine",
    "falcon",
    "nine",
  ]);
});

test("whole words end where no letter, digit or underscore of any language follows", () => {
  expect(find(["bar"], "bar bark disbar bar_ bar2 barö баbar (bar) bar. 用bar吗")).toEqual([
    "bar",
    "bar",
    "bar",
    "bar",
  ]);
  expect(find(["bar"], "disbark", { wholeWords: false })).toEqual(["bar"]);
  expect(find(["C++", ".NET"], "C++ and .NET, xC++")).toEqual(["C++", ".NET"]);
});

test("Chinese, Japanese, Korean and Thai words need no space around them", () => {
  expect(find(["机密"], "这是机密文件")).toEqual(["机密"]);
  expect(find(["ひみつ", "カタカナ"], "それはひみつです。カタカナを")).toEqual(["ひみつ", "カタカナ"]);
  expect(find(["비밀"], "비밀은 비밀이다")).toEqual(["비밀", "비밀"]);
  expect(find(["ลับ"], "ความลับของ")).toEqual(["ลับ"]);
});

test("ignores case by Unicode's folding", () => {
  expect(find(["straße", "σίσυφος", "κ"], "STRAẞE ΣΊΣΥΦΟΣ Σίσυφος Κ")).toEqual(["STRAẞE", "ΣΊΣΥΦΟΣ", "Σίσυφος", "Κ"]);
  expect(find(["kelvin", "Falcon"], "\u212aelvin FALCON")).toEqual(["\u212aelvin", "FALCON"]);
  expect(find(["Falcon"], "FALCON Falcon", { ignoreCase: false })).toEqual(["Falcon"]);
});

test("invisible and full-width characters do not hide a word", () => {
  expect(find(["falcon"], "fal\u200bcon ｆａｌｃｏｎ f\u00adalcon")).toEqual([
    "fal\u200bcon",
    "ｆａｌｃｏｎ",
    "f\u00adalcon",
  ]);
});

test("finds each of thousands of words", () => {
  const words = Array.from({ length: 5_000 }, (_, index) => `word${index.toString(36)}x`);
  expect(find(words, words.join(" "))).toEqual(words);
});

test("a stream holds back only what may become a word", () => {
  const detector = createDetector({
    kind: "words",
    words: ["falcon nine", "机密文件"],
    wholeWords: true,
    ignoreCase: true,
  });
  for (const [text, pending] of [
    ["the falc", 4],
    ["the falcon ", 4],
    ["the falcon x", 12],
    ["the falcon nine", 4],
    ["the falcon nine.", 16],
    ["这是机密", 2],
  ] as const) {
    expect(detector.pendingFrom(text)).toBe(pending);
  }
});
