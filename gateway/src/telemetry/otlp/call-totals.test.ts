import { expect, test } from "bun:test";
import type { LedgerEntry } from "#core/index.ts";
import { OpenCalls } from "./call-totals.ts";

const entry = (requestId: string, more: Partial<LedgerEntry> = {}): LedgerEntry =>
  ({ requestId, at: 10, totalMs: 5, outcome: "succeeded", costNanoUsd: 1, ...more }) as unknown as LedgerEntry;

test("keeps apart the attempts of overlapping calls and returns each total once", () => {
  const calls = new OpenCalls();
  calls.add(entry("req_1", { outcome: "failed" }), "upstream_error");
  calls.add(entry("req_2"), null);
  calls.add(entry("req_1", { at: 20, costNanoUsd: 7 }), null);
  calls.add(entry("req_3", { outcome: "rejected" }), "rate_limit_exceeded");
  expect(calls.take("req_3")).toMatchObject({ attempts: 0, errorType: "rate_limit_exceeded" });
  expect(calls.take("req_1")).toMatchObject({ attempts: 2, costNanoUsd: 8, startMs: 10, endMs: 25, isBroken: false });
  expect(calls.take("req_2")).toMatchObject({ attempts: 1, costNanoUsd: 1 });
  for (const id of ["req_1", "req_2", "req_3", "req_4"]) expect(calls.take(id)).toBeNull();
});
