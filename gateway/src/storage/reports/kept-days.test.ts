import { expect, test } from "bun:test";
import { KeptDays, type KnownRow, type KnownTime } from "./kept-days.ts";
import { noFigures } from "./report-figures.ts";

const dayMs = 86_400_000;
const row: KnownRow = { step: 0, line: 0, sums: noFigures() };
const timeOf = (day: number, version = 1): KnownTime => ({
  ...{ from: day * dayMs, to: (day + 1) * dayMs },
  version: String(version),
});

test("what is kept of a day counts only for the same question, the same hours and the version that they had", () => {
  const kept = new KeptDays();
  kept.keepRows("a", timeOf(1), [row]);
  kept.keepRanking("a", [timeOf(1), timeOf(2)], { dearest: new Map(), othersNanoMax: null });
  expect(kept.rowsOf("a", timeOf(1))).toEqual([row]);
  expect(kept.rowsOf("b", timeOf(1))).toBeNull();
  expect(kept.rowsOf("a", timeOf(1, 2))).toBeNull();
  expect(kept.rowsOf("a", timeOf(2))).toBeNull();
  expect(kept.rowsOf("a", { ...timeOf(1), to: dayMs + 1 })).toBeNull();
  expect(kept.rankingOf("a", [timeOf(1), timeOf(2)])).not.toBeNull();
  expect(kept.rankingOf("a", [timeOf(1), timeOf(2, 2)])).toBeNull();
  expect(kept.rankingOf("a", [timeOf(1)])).toBeNull();
});

test("it stays within its bound: what was not asked for the longest leaves", () => {
  const kept = new KeptDays({ bytesMax: 10_000 });
  for (let question = 0; question < 100; question++) {
    for (let day = 0; day < 5; day++) kept.keepRows(String(question), timeOf(day), [row]);
    kept.rowsOf("0", timeOf(0));
    expect(kept.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(kept.rowsOf("0", timeOf(4))).toEqual([row]);
  expect(kept.rowsOf("99", timeOf(4))).toEqual([row]);
  expect(kept.rowsOf("50", timeOf(4))).toBeNull();
  for (let again = 0; again < 1_000; again++) kept.keepRows("0", timeOf(0, again), [row]);
  expect(kept.rowsOf("99", timeOf(4))).toEqual([row]);
});
