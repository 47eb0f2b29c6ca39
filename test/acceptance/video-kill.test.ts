import { expect, test } from "bun:test";
import { runVideoKill, shortVideoKill } from "./video-kill.ts";

test("kill -9 and a standstill past every lease while videos are made: one at the vendor, one in the ledger, none lost, no picture cut or kept", async () => {
  const report = await runVideoKill(shortVideoKill);
  console.log(JSON.stringify(report));
  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({ orders: 288, entries: 288, budgetErrorsNanoUsd: [0, 0] });
  expect(report.verifyStatus, report.verifyOutput).toBe(0);
  expect(report.pictures.cut).toBe(0);
  // The run must have been hard enough to prove something, and not so hard that nothing went well.
  expect(report.pictures.sent).toBeGreaterThan(20);
  expect(report.placedAgain).toBeGreaterThan(5);
  expect(report.callbacksTaken).toBeGreaterThan(50);
  expect(report.waitedForDeadline).toBeGreaterThan(5);
  expect(report.outcomes["succeeded"]).toBeGreaterThan(150);
  expect(report.heldToDeadline).toBeLessThan(100);
});
