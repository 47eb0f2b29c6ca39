import { expect, test } from "bun:test";
import { Noise } from "./noise.ts";

/** A host that steals the given milliseconds of CPU time during each one-second sample. */
function noiseWith(stolen: readonly number[]) {
  let stolenMs = 0;
  let nowMs = 0;
  let count = 0;
  const noise = new Noise(
    () => stolenMs,
    () => nowMs,
  );
  const take = async () => {
    stolenMs += stolen[count] ?? 0;
    nowMs += 1_000;
    return ++count;
  };
  return { noise, take };
}

test("repeats a sample with stolen CPU time and counts it as dropped", async () => {
  const much = 100 * navigator.hardwareConcurrency;
  const { noise, take } = noiseWith([0, much, 1]);
  expect(await noise.undisturbed(take)).toBe(1);
  expect(await noise.undisturbed(take)).toBe(3);
  expect(noise.tally()).toEqual({ taken: 3, dropped: 1 });
});

test("the third sample counts if every sample has stolen CPU time", async () => {
  const much = 500 * navigator.hardwareConcurrency;
  const { noise, take } = noiseWith([much, much, much, much]);
  expect(await noise.undisturbed(take)).toBe(3);
  expect(noise.tally()).toEqual({ taken: 3, dropped: 2 });
});
