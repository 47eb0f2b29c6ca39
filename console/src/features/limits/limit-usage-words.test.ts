import { expect, test } from "bun:test";
import type { LimitUsageRow } from "@sluice/contract";
import { kindWords, nameOf, outlookOf, shareOf, toneOfShare, usedWords } from "./limit-usage-words.ts";

const budget: LimitUsageRow = {
  scope: "group",
  scope_id: "grp_1",
  label: "group acme/cheap",
  workspace: { id: "ws_1", slug: "acme" },
  kind: "budget",
  period: "month",
  limit: 10,
  used: 4,
  resets_at: 1_796_083_200_000,
  forecast: { at_period_end: 8, exhausted_at: null },
};

test("a budget says where it is going: used up, when it will be, or what it comes to", () => {
  expect(outlookOf({ ...budget, used: 10 })).toMatchObject({ tone: "bad" });
  const soon = outlookOf({ ...budget, forecast: { at_period_end: 30, exhausted_at: 1_796_000_000_000 } });
  expect(soon).toEqual({ tone: "warn", words: "Will be used up", exhaustedAt: 1_796_000_000_000 });
  expect(outlookOf(budget)?.words).toBe("About $8.00 by the end of the month");
  expect(outlookOf({ ...budget, period: "total" })?.words).toBe("About $8.00 in 30 days");
  expect(outlookOf({ ...budget, used: 0, forecast: { at_period_end: 0, exhausted_at: null } })?.words).toContain(
    "Nothing",
  );
  expect(outlookOf({ ...budget, kind: "rpm", period: null, forecast: null })).toBeNull();
});

test("a limit of nothing is used up, and no share divides by zero", () => {
  expect(shareOf({ used: 0, limit: 0 })).toBe(1);
  expect([0, 0.79, 0.8, 1, 1.5].map(toneOfShare)).toEqual(["busy", "busy", "warn", "bad", "bad"]);
});

test("money is written as money, counts as counts, and the name without what stands beside it", () => {
  expect(usedWords(budget)).toBe("$4.00 of $10.00");
  expect(usedWords({ ...budget, kind: "tpm", limit: 100_000, used: 1_234 })).toBe("1.2K of 100K");
  expect([kindWords(budget), nameOf(budget)]).toEqual(["Budget, monthly", "acme/cheap"]);
});

test("a budget that cannot be read now says so, and not that nothing is used", () => {
  const unread = { ...budget, used: null, forecast: null };
  expect(usedWords(unread)).toBe("Not known of $10.00");
  expect([shareOf(unread), outlookOf(unread)]).toEqual([0, null]);
});
