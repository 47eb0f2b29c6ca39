import { describe, expect, test } from "bun:test";
import { personalDataTypes } from "@sluice/contract/words";
import fc from "fast-check";
import { type Detector, detectorContext, type Finding, type LocatingCheck } from "#core/index.ts";
import { between, fragments } from "../../../test/guardrails/sample-texts.ts";
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

test("finds a phone number behind a code that was released", () => {
  const detector = createDetector({ kind: "personal_data", types: personalDataTypes });
  const text = "Steuer-ID 86095742719 RSSMRA85T10A562Sphone: 030/123 45 67";
  expect(streamed(detector, [...text])).toEqual(detector.find(text) as Finding[]);
});

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
