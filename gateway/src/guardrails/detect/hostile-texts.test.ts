import { describe, expect, test } from "bun:test";
import { personalDataTypes } from "@sluice/contract/words";
import { createDetector } from "./index.ts";

/** Texts that make pattern matching slow if it is not linear: a quadratic one would take minutes. */
const characters = 300_000;
const parts = [
  ...[
    "a",
    "a@",
    "a.a@a.",
    "1",
    "1-",
    "1 ",
    "12 34-",
    "+1",
    "(1",
    "DE89 ",
    "f000:",
    "::",
    "phone 1234567 ",
    "4111 1111 ",
  ],
  ...[
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----AAAA",
    "Comment: ",
    "eyJ",
    "-eyJ",
    "eyJaaaaaaaaa.",
  ],
  ...[
    "sk-",
    "-sk-a1",
    "ops_eyJ-",
    "=",
    ":",
    '="',
    "password=",
    'password="',
    "://a:",
    "bearer ",
    "bearer aaaaaaaaaaaaaaaa1.",
  ],
  ...["a\u200b", "\u200b", "ａ", "falcon ", "falco", "机密", "😀"],
];

const detectors = {
  credentials: createDetector({ kind: "credentials" }),
  personal_data: createDetector({ kind: "personal_data", types: personalDataTypes }),
  words: createDetector({
    kind: "words",
    words: ["falcon nine", "机密文件", "aaaaaaaaab"],
    wholeWords: false,
    ignoreCase: true,
  }),
};

describe.each(Object.keys(detectors) as (keyof typeof detectors)[])("%s", (name) => {
  test.each(parts)("reads %p again and again in linear time", (part) => {
    const text = part.repeat(Math.ceil(characters / part.length));
    const detector = detectors[name];
    expect(detector.find(text).every(({ end }) => end <= text.length)).toBe(true);
    expect(detector.pendingFrom(text)).toBeGreaterThan(text.length - 20_000);
  });
});
