import { expect, test } from "bun:test";
import type { LimitUsageRow } from "@sluice/contract";
import { chosen, summaryOf } from "./limit-usage-choice.ts";

function row(fields: Partial<LimitUsageRow>): LimitUsageRow {
  return {
    scope: "key",
    scope_id: "key_1",
    label: "key acme/ci",
    workspace: { id: "ws_1", slug: "acme" },
    kind: "rpm",
    period: null,
    limit: 100,
    used: 0,
    resets_at: null,
    exhausted: false,
    refused_at: null,
    forecast: null,
    ...fields,
  };
}

const will = { at_period_end: 200, exhausted_at: 1_796_000_000_000 };
const rows = [
  row({ used: 79 }),
  row({ used: 80, scope: "group" }),
  row({ used: 100, kind: "budget", period: "day", forecast: will, exhausted: true }),
  row({ used: 10, kind: "budget", period: "day", forecast: will, scope: "workspace" }),
];

test("each limit is counted as nearly used, exhausted, or one that will not last, and an exhausted one only once", () => {
  expect(summaryOf(rows)).toEqual({ all: 4, near: 1, exhausted: 1, short: 1 });
});

test("a budget that refuses calls counts as exhausted, though some of it is left", () => {
  const refusing = row({ used: 10, kind: "budget", period: "day", exhausted: true, refused_at: 1 });
  expect(summaryOf([refusing])).toEqual({ all: 1, near: 0, exhausted: 1, short: 0 });
});

test("filters keep the rows that match, and an empty filter keeps all", () => {
  expect(chosen(rows, { kind: undefined, scope: "" })).toHaveLength(4);
  expect(chosen(rows, { kind: "budget", scope: undefined })).toHaveLength(2);
  expect(chosen(rows, { kind: "budget", scope: "workspace" })).toEqual([rows[3] as LimitUsageRow]);
});
