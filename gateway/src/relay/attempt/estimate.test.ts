import { expect, test } from "bun:test";
import { type Model, noUsage } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { UsageForecast } from "./estimate.ts";

const facts = (inputEstimate: number, outputTokensMax: number | null = null): RequestFacts => ({
  model: "m",
  modelSpan: null,
  stream: false,
  wantsUsage: true,
  outputTokensMax,
  inputEstimate,
  streamOptionsSpan: null,
  affinity: null,
  continues: null,
  keeps: null,
  images: 0,
});
const model: Model = {
  name: "m",
  type: "chat",
  ownedBy: "x",
  createdAt: 0,
  deployments: [],
  fallbacks: [],
  contextWindow: null,
  price: null,
};

test("a guess at the input comes closer to what the upstream counts, cached tokens included", () => {
  const forecast = new UsageForecast();
  expect(forecast.input(facts(1_000), "m")).toBe(1_000);
  for (let call = 0; call < 100; call++) {
    forecast.learn("m", facts(1_000), { ...noUsage, inputUncached: 300, cacheRead: 1_000, output: 50 });
  }
  expect(forecast.input(facts(1_000), "m")).toBeGreaterThan(1_250);
  expect(forecast.input(facts(1_000), "m")).toBeLessThanOrEqual(1_300);
});

test("short inputs, and those that are mostly pictures, say nothing of the next", () => {
  const forecast = new UsageForecast();
  forecast.learn("m", facts(4), { ...noUsage, inputUncached: 40 });
  forecast.learn("m", facts(100_000), { ...noUsage, inputUncached: 900 });
  expect(forecast.input(facts(1_000), "m")).toBe(1_000);
});

test("output is the caller's own cap or, without one, what the model's answers have been", () => {
  const forecast = new UsageForecast();
  expect(forecast.tokens(facts(0, 7), model)).toBe(7);
  forecast.learn("m", facts(0), { ...noUsage, output: 40 });
  expect(forecast.tokens(facts(0), model)).toBe(40);
});
