import { expect, test } from "bun:test";
import { runKillLoop, shortKillLoop } from "./kill-loop.ts";

test("kill -9 in a loop under load: the ledger has every attempt once, and finished calls are exact", async () => {
  const report = await runKillLoop(shortKillLoop);
  console.log(JSON.stringify(report));
  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({ missing: 0, duplicates: 0, wrongTokens: 0, wrongCost: 0, budgetErrorNanoUsd: 0 });
  expect(report.verifyStatus, report.verifyOutput).toBe(0);
  // Check that the run was hard enough to be meaningful.
  expect(report.kills).toBeGreaterThan(5);
  expect(report.finishedCalls).toBeGreaterThan(100);
  expect(report.outcomes["interrupted"]).toBeGreaterThan(0);
});
