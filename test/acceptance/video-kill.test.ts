import { expect, test } from "bun:test";
import { runVideoKill, shortVideoKill } from "./video-kill.ts";

test("kill -9 and a pause longer than every lease while videos are made: each video has one task and one entry, and no image is truncated or left over", async () => {
  const report = await runVideoKill(shortVideoKill);
  console.log(JSON.stringify(report));
  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({ orders: 288, entries: 288, budgetErrorsNanoUsd: [0, 0] });
  expect(report.verifyStatus, report.verifyOutput).toBe(0);
  expect(report.images.truncated).toBe(0);
  // Check that the run was hard enough to be meaningful, but not so hard that nothing succeeded.
  expect(report.images.sent).toBeGreaterThan(20);
  expect(report.placedAgain).toBeGreaterThan(5);
  expect(report.callbacksAccepted).toBeGreaterThan(50);
  expect(report.waitedForDeadline).toBeGreaterThan(5);
  expect(report.outcomes["succeeded"]).toBeGreaterThan(150);
  expect(report.unknownOutcomes).toBeLessThan(100);
});
