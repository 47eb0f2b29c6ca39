import { expect, test } from "bun:test";
import { runKillLoop, shortKillLoop } from "./kill-loop.ts";

test("kill -9 in a loop under load: no attempt the upstream saw is missing or doubled, every finished one is exact", async () => {
  const report = await runKillLoop(shortKillLoop);
  console.log(JSON.stringify(report));
  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({ missing: 0, doubled: 0, wrongTokens: 0, wrongCost: 0, budgetErrorNanoUsd: 0 });
  expect(report.verifyStatus, report.verifyOutput).toBe(0);
  // The run must have been hard enough to prove something.
  expect(report.kills).toBeGreaterThan(5);
  expect(report.finishedCalls).toBeGreaterThan(100);
  expect(report.outcomes["interrupted"]).toBeGreaterThan(0);
});
