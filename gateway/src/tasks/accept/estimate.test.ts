import { expect, test } from "bun:test";
import type { TaskRequest } from "#core/index.ts";
import { reservedCost } from "./estimate.ts";

type Takes = Parameters<typeof reservedCost>[2][number];

const params = (more: Partial<TaskRequest>): TaskRequest =>
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
  reservedCost(prices, params(more), of) / 1e7;

test("holds the requested length and size", () => {
  expect(cents(bySecond, {})).toBe(50);
  expect(cents(byToken, {})).toBeCloseTo(64.8, 6);
});

test("holds the vendor's longest default length", () => {
  expect(cents(bySecond, { durationSeconds: null })).toBe(80);
  expect(cents(bySecond, { durationSeconds: -1 })).toBe(120);
  expect(cents(bySecond, { durationSeconds: -1 }, [])).toBe(150);
  expect(cents(bySecond, { durationSeconds: null }, [{ ...takes, durations: [], durationMax: 6 }])).toBe(60);
});

test("holds the largest default size that a deployment supports", () => {
  expect(cents(byToken, { resolution: null })).toBeCloseTo(cents(byToken, { resolution: "1080p" }), 6);
  expect(cents(byToken, { resolution: null }, [])).toBeCloseTo(64.8, 6);
});
