import { describe, expect, test } from "bun:test";
import { personalDataTypes } from "@sluice/contract/words";
import fc from "fast-check";
import { type Detector, detectorContext, type Finding, type LocatingCheck } from "#core/index.ts";
import { createDetector } from "./index.ts";

/** Findings of a text that arrives in pieces, as a stream finds them. Checks that nothing is released that belongs to a finding. */
function streamed(detector: Detector, pieces: readonly string[]): readonly Finding[] {
  const findings: Finding[] = [];
  let text = "";
  let released = 0;
  for (const [index, piece] of pieces.entries()) {
    text += piece;
    const start = Math.max(0, released - detectorContext);
    const window = text.slice(start);
    const from = released - start;
    const pending = index === pieces.length - 1 ? window.length : detector.pendingFrom(window, from);
    expect(pending).toBeGreaterThanOrEqual(from);
    for (const finding of detector.find(window, from)) {
      if (finding.start >= pending) break;
      expect(finding.end).toBeLessThanOrEqual(pending);
      findings.push({ ...finding, start: finding.start + start, end: finding.end + start });
    }
    released = start + pending;
  }
  return findings;
}

const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const random = (length: number): string =>
  Array.from({ length }, (_, index) => alphabet[(index * 37 + ((index * index) % 23)) % alphabet.length]).join("");
const base64Lines = `${random(64)}\n${random(64)}\n${random(20)}==`;

const fragments: Readonly<Record<LocatingCheck["kind"], readonly string[]>> = {
  credentials: [
    `sk-ant-api03-${random(40)}`,
    `sk-${random(30)}`,
    `ghp_${random(36)}`,
    `AKIA${"ABCDEFGH23456777"}`,
    `eyJ${random(20)}.eyJ${random(30)}.${random(43)}`,
    `Bearer ${random(30)}`,
    'password = "hunter2!x"',
    `{\\"api_key\\": \\"${random(32)}\\"}`,
    "postgres://app:s3cr3t@db:5432/app",
    `123456789:AA${random(33)}`,
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${base64Lines}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${base64Lines}`,
    `https://hooks.slack.com/services/T0/B0/${random(24)}`,
    "密码：hunter22",
    "Authorization: ",
    "token=",
    "-----BEGIN ",
    "://",
  ],
  personal_data: [
    "jane.doe+x@example.co.uk",
    "4111 1111 1111 1111",
    "5555555555554444",
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "+49 (0)30 1234-5678",
    "phone: 030/123 45 67",
    "电话",
    "13800138000",
    "11010519491231002X",
    "192.168.10.20",
    "2001:db8:85a3::8a2e:370:7334",
    "fe80:abcd::1",
    "123-45-6789",
    "NHS number 943 476 5919",
    "AB 12 34 56 C",
    "RSSMRA85T10A562S",
    "12345678Z",
    "X1234567L",
    "PESEL 44051401359",
    "BSN 111222333",
    "850709-9805",
    "Steuer-ID 86095742719",
    "@",
    "+",
    "(",
    "3.14",
  ],
  patterns: ["project-1234-alpha", "EMP123456", "codename  Zebra", "key-ab-ab-ab", "EMP", "project-", "ababab"],
  words: ["Falcon", "falcon nine", "机密", "机密文件", "straße", "ΣΊΣΥΦΟΣ", "fal", "İ", "👩🏽‍🚀", "secret😀"],
};
test("finds a phone number behind a code that was released", () => {
  const detector = createDetector({ kind: "personal_data", types: personalDataTypes });
  const text = "Steuer-ID 86095742719 RSSMRA85T10A562Sphone: 030/123 45 67";
  expect(streamed(detector, [...text])).toEqual(detector.find(text) as Finding[]);
});

const between = [
  " ",
  " ",
  " ",
  ". ",
  ", ",
  "\n",
  "",
  "-",
  '"',
  "é",
  "的",
  "😀",
  "\u200b",
  "\u00ad",
  "０",
  "ａ",
  "_",
  "=",
  ":",
  "and ",
  "See ",
];

const checks: readonly LocatingCheck[] = [
  { kind: "credentials" },
  { kind: "personal_data", types: personalDataTypes },
  {
    kind: "patterns",
    patterns: [
      { name: "project", regex: "(?i)project-\\d{3,6}-[a-z]+" },
      { name: "employee", regex: "\\bEMP[0-9]{6}\\b" },
      { name: "code", regex: "codename\\s+(?P<name>\\w+)|key(?:-ab)*" },
      { name: "pairs", regex: "(?:ab){2,}?a|\\Qaba\\E" },
    ],
  },
  {
    kind: "words",
    words: ["falcon", "falcon nine", "机密", "机密文件", "STRASSE", "straße", "σίσυφος", "👩🏽‍🚀", "secret"],
    wholeWords: true,
    ignoreCase: true,
  },
];

describe.each(checks)("$kind", (check) => {
  const detector = createDetector(check);
  const piece = fc.oneof(
    fc.constantFrom(...fragments[check.kind]),
    fc.constantFrom(...between),
    fc.constantFrom(...between),
  );
  const texts = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));

  test("a text split at any place has the same findings as the whole", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const findings = detector.find(text);
        for (let at = 0; at <= text.length; at++) {
          expect(streamed(detector, [text.slice(0, at), text.slice(at)])).toEqual(findings);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("a text in single characters has the same findings as the whole", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(streamed(detector, text.split(""))).toEqual(detector.find(text));
      }),
      { numRuns: 60 },
    );
  });

  test("findings are in order, do not overlap and divide no character", () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: "grapheme", maxLength: 200 })), (text) => {
        let end = 0;
        for (const finding of detector.find(text)) {
          expect(finding.start).toBeGreaterThanOrEqual(end);
          expect(finding.end).toBeGreaterThan(finding.start);
          expect(text.slice(finding.start, finding.end).isWellFormed()).toBe(true);
          end = finding.end;
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
