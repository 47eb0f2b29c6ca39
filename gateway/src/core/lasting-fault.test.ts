import { expect, test } from "bun:test";
import { faultTellMs, LastingFault } from "./lasting-fault.ts";

test("logs a lasting fault at its beginning, at intervals, and when it is over", () => {
  let nowMs = 1_000;
  const logged: unknown[] = [];
  const log = (level: string, message: string, facts?: object) => void logged.push([level, message, facts]);
  const clock = { monotonic: () => nowMs };
  const fault = new LastingFault({ clock, observer: { log }, level: "error", fault: "It fails.", over: "It works." });
  fault.succeeded();
  expect(logged).toEqual([]);
  for (let time = 0; time < 1_200; time++) {
    fault.failed({ error: "away" });
    nowMs += faultTellMs / 600;
  }
  expect(logged).toEqual([
    ["error", "It fails.", { error: "away" }],
    ["error", "It fails.", { error: "away", times: 601, forMs: faultTellMs }],
  ]);
  fault.succeeded();
  fault.succeeded();
  fault.failed({ error: "gone" });
  expect(logged.slice(2)).toEqual([
    ["info", "It works.", { times: 1_200, forMs: 2 * faultTellMs }],
    ["error", "It fails.", { error: "gone" }],
  ]);
});
