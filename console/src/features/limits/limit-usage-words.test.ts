import { expect, test } from "bun:test";
import type { LimitUsageRow } from "@sluice/contract";
import { kindWords, nameOf, outlookOf, shareOf, toneOf, usedWords } from "./limit-usage-words.ts";

const budget: LimitUsageRow = {
  scope: "group",
  scope_id: "grp_1",
  label: "group acme/cheap",
  workspace: { id: "ws_1", slug: "acme" },
  group: null,
  kind: "budget",
  period: "month",
  time_zone: null,
  rolling: false,
  limit: 10,
  used: 4,
  held: 0,
  enforce: true,
  resets_at: 1_796_083_200_000,
  exhausted: false,
  refused_at: null,
  by_tag: null,
  forecast: { at_period_end: 8, exhausted_at: null },
};

test("a budget's forecast shows exhausted, refusing, the end date or the projected spend", () => {
  expect(outlookOf({ ...budget, used: 10 })).toEqual({ kind: "exhausted" });
  expect(outlookOf({ ...budget, refused_at: 7 })).toEqual({ kind: "refusing", left: "$6.00", at: 7 });
  const soon = outlookOf({ ...budget, forecast: { at_period_end: 30, exhausted_at: 1_796_000_000_000 } });
  expect(soon).toEqual({ kind: "runs-out", at: 1_796_000_000_000 });
  expect(outlookOf(budget)).toEqual({ kind: "projected", words: "About $8.00 by the end of the month" });
  expect(outlookOf({ ...budget, period: "total" })).toEqual({ kind: "projected", words: "About $8.00 in 30 days" });
  expect(outlookOf({ ...budget, used: 0, forecast: { at_period_end: 0, exhausted_at: null } })?.kind).toBe("idle");
  expect(outlookOf({ ...budget, kind: "rpm", period: null, forecast: null })).toBeNull();
});

test("a limit of zero is fully used, and a refusing one looks exhausted", () => {
  expect(shareOf({ used: 0, limit: 0 })).toBe(1);
  const toneAt = (used: number) => toneOf({ used, limit: 100, exhausted: used >= 100 });
  expect([0, 79, 80, 100, 150].map(toneAt)).toEqual(["busy", "busy", "warn", "bad", "bad"]);
  expect(toneOf({ used: 1, limit: 100, exhausted: true })).toBe("bad");
});

test("money and counts are formatted, and names are shown without their scope", () => {
  expect(usedWords(budget)).toBe("$4.00 of $10.00");
  expect(usedWords({ ...budget, kind: "tpm", limit: 100_000, used: 1_234 })).toBe("1.2K of 100K");
  expect([kindWords(budget), nameOf(budget)]).toEqual(["Budget, monthly", "acme/cheap"]);
  expect(kindWords({ ...budget, time_zone: "Europe/Berlin" })).toBe("Budget, monthly (Europe/Berlin)");
  expect(kindWords({ ...budget, rolling: true })).toBe("Budget, last 30 days");
});

test("a budget that cannot be read shows as unknown, not as unused", () => {
  const unread = { ...budget, used: null, forecast: null };
  expect(usedWords(unread)).toBe("Unknown of $10.00");
  expect([shareOf(unread), outlookOf(unread)]).toEqual([0, null]);
});
