import { expect, test } from "bun:test";
import { StandingLoop } from "../../test/standing-loop.ts";
import { bounds } from "./bounds.ts";
import { afterRunningFor, waitSlices } from "./running-time.ts";

test("while the loop stands still nobody is judged; one who is silent while it runs is, and not before the time is over", () => {
  const loop = new StandingLoop();
  let judged = 0;
  afterRunningFor(loop, bounds.redisAnswerMs, () => judged++);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  expect(judged).toBe(0);
  const sliceMs = bounds.redisAnswerMs / waitSlices;
  for (let slice = 2; slice < waitSlices; slice++) loop.turnAfter(sliceMs);
  loop.turnAfter(sliceMs - 1);
  expect(judged).toBe(0);
  loop.turnAfter(1);
  loop.turnAfter(0);
  expect(judged).toBe(1);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  expect(judged).toBe(1);
});

test("a wait that is over in any slice judges nobody", () => {
  const loop = new StandingLoop();
  let judged = 0;
  const stop = afterRunningFor(loop, bounds.redisAnswerMs, () => judged++);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  stop();
  for (let slice = 0; slice < 2 * waitSlices; slice++) loop.turnAfter(bounds.redisAnswerMs);
  expect(judged).toBe(0);
});

test("who has answered while the loop stood still in the last slice is heard before anybody is judged", () => {
  const loop = new StandingLoop();
  let judged = 0;
  const stop = afterRunningFor(loop, bounds.redisAnswerMs, () => judged++);
  for (let slice = 1; slice < waitSlices; slice++) loop.turnAfter(bounds.redisAnswerMs / waitSlices);
  loop.turnAfter(10 * bounds.redisAnswerMs);
  // The loop's turn goes on with what lies in its sockets.
  stop();
  loop.turnAfter(0);
  expect(judged).toBe(0);
});
