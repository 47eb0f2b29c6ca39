import { expect, test } from "bun:test";
import type { TaskRequest } from "#core/index.ts";
import { reservedCost } from "./estimate.ts";

type Takes = Parameters<typeof reservedCost>[2][number];

const asked = (more: Partial<TaskRequest>): TaskRequest =>
  ({
    ratio: "16:9",
    resolution: "720p",
    durationSeconds: 5,
    audio: null,
    watermark: null,
    seed: null,
    ...more,
  }) as TaskRequest;
const bySecond = { videoSeconds: 100_000_000_000 };
const byToken = { output: 6_000_000 };
const takes: Takes = { durations: [4, 8, 12], durationMax: null, resolutions: ["480p", "720p", "1080p", "4k"] };
const cents = (prices: typeof bySecond | typeof byToken, more: Partial<TaskRequest>, of = [takes]) =>
  reservedCost(prices, asked(more), of) / 1e7;

test("what is asked for is held as it is asked for", () => {
  expect(cents(bySecond, {})).toBe(50);
  expect(cents(byToken, {})).toBeCloseTo(64.8, 6);
});

test("a length left to the vendor is the longest it makes by itself", () => {
  expect(cents(bySecond, { durationSeconds: null })).toBe(80);
  expect(cents(bySecond, { durationSeconds: -1 })).toBe(120);
  expect(cents(bySecond, { durationSeconds: -1 }, [])).toBe(150);
  expect(cents(bySecond, { durationSeconds: null }, [{ ...takes, durations: [], durationMax: 6 }])).toBe(60);
});

test("a size left to the vendor is the largest of the usual ones that a deployment takes", () => {
  expect(cents(byToken, { resolution: null })).toBeCloseTo(cents(byToken, { resolution: "1080p" }), 6);
  expect(cents(byToken, { resolution: null }, [])).toBeCloseTo(64.8, 6);
});
