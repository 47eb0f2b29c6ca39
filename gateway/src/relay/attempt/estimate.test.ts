import { expect, test } from "bun:test";
import { bounds, type Model, noUsage } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { type ForecastCall, UsageForecast } from "./estimate.ts";

const factsOf = (inputEstimate: number, outputTokensMax: number | null = null): RequestFacts => ({
  model: "m",
  modelSpan: null,
  stream: false,
  wantsUsage: true,
  outputTokensMax,
  inputEstimate,
  streamOptionsSpan: null,
  affinity: null,
  continues: null,
  storesAs: null,
  images: 0,
});
const facts = (
  inputEstimate: number,
  outputTokensMax: number | null = null,
  {
    workspace = "ws",
    key = "key",
    affinity = null,
  }: { workspace?: string; key?: string; affinity?: string | null } = {},
): ForecastCall => ({
  facts: { ...factsOf(inputEstimate, outputTokensMax), affinity },
  principal: { workspace: { id: workspace }, key: { id: key } },
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

test("the input estimate approaches the upstream's count, including cached tokens", () => {
  const forecast = new UsageForecast();
  expect(forecast.input(facts(1_000), "m")).toBe(1_000);
  for (let call = 0; call < 100; call++) {
    forecast.learn(facts(1_000), "m", { ...noUsage, inputUncached: 300, cacheRead: 1_000, output: 50 }, null);
  }
  expect(forecast.input(facts(1_000), "m")).toBeGreaterThan(1_250);
  expect(forecast.input(facts(1_000), "m")).toBeLessThanOrEqual(1_300);
});

test("short inputs and inputs of pictures do not change the input ratio", () => {
  const forecast = new UsageForecast();
  forecast.learn(facts(4), "m", { ...noUsage, inputUncached: 40 }, null);
  forecast.learn(facts(100_000), "m", { ...noUsage, inputUncached: 900 }, null);
  expect(forecast.input(facts(1_000), "m")).toBe(1_000);
});

test("the output estimate is the caller's cap or, without one, the size of recent answers", () => {
  const forecast = new UsageForecast();
  expect(forecast.tokens(facts(0, 7), model)).toBe(7);
  forecast.learn(facts(0), "m", { ...noUsage, output: 40 }, null);
  expect(forecast.tokens(facts(0), model)).toBe(40);
});

const cost = (guessed: number, paid: number) => ({ guessed, paid });
const used = { ...noUsage, inputUncached: 1_000 };

test("the input cost ratio is learned by conversation, else key, else workspace, and never across workspaces", () => {
  const forecast = new UsageForecast();
  const of = (workspace: string, key: string, affinity: string | null) => facts(1_000, 0, { workspace, key, affinity });
  forecast.learn(of("ws", "one", "talk"), "m", used, cost(1_000, 100));
  forecast.learn(of("ws", "one", "other"), "m", used, cost(1_000, 300));
  const ratio = (call: ForecastCall) => forecast.inputCostRatio(call, "m");
  expect(ratio(of("ws", "one", "talk"))).toBe(0.1);
  expect(ratio(of("ws", "one", "new"))).toBeCloseTo((75 + 300) / 1_750);
  expect(ratio(of("ws", "two", null))).toBeCloseTo((75 + 300) / 1_750);
  expect(ratio(of("elsewhere", "one", "talk"))).toBeNull();
  expect(forecast.inputCostRatio(of("ws", "one", "talk"), "another")).toBeNull();
});

test("large calls weigh more than small ones, and recent ones more than old ones", () => {
  const forecast = new UsageForecast();
  for (let call = 0; call < 20; call++) forecast.learn(facts(1_000), "m", used, cost(1_000_000, 100_000));
  forecast.learn(facts(1_000), "m", used, cost(1_000, 1_000));
  expect(forecast.inputCostRatio(facts(1_000), "m")).toBeLessThan(0.11);
  for (let call = 0; call < 3; call++) forecast.learn(facts(1_000), "m", used, cost(1_000_000, 1_000_000));
  expect(forecast.inputCostRatio(facts(1_000), "m")).toBeGreaterThan(0.5);
});

test("a bounded number of a key's calls in flight is held below the first guess", () => {
  const forecast = new UsageForecast();
  const many = Array.from({ length: 20 }, () => forecast.trust(facts(1)));
  expect(many.filter(Boolean)).toHaveLength(bounds.trustedHoldsMax);
  expect(forecast.trust(facts(1, 0, { key: "another" }))).toBe(true);
  forecast.distrust(facts(1));
  expect([forecast.trust(facts(1)), forecast.trust(facts(1))]).toEqual([true, false]);
});
