import { expect, test } from "bun:test";
import type { ConsoleDeployment, Health } from "@sluice/contract";
import { fitsModel, healthOf, type ModelRow } from "./model-filter.ts";

const health = (state: Health["state"]): Health => ({
  state,
  breaker: null,
  cooling_ms: 0,
  in_flight: 0,
  latency_ms: null,
  last_hour: null,
});

const deployment = (state: Health["state"], enabled = true): ConsoleDeployment => ({
  id: "dep_1",
  provider: "main",
  upstream_model: "gpt-5-2026",
  priority: 1,
  weight: 100,
  enabled,
  capabilities: null,
  health: health(state),
});

const model: ModelRow = {
  name: "gpt-5",
  type: "chat",
  owned_by: "openai",
  endpoints: [],
  untranslated_endpoints: [],
  fallbacks: [],
  max_output_tokens: null,
  price: null,
  price_version: null,
  price_origin: null,
  list_price: null,
  next_price: null,
  price_guessed: false,
  context_window: null,
  context_window_origin: null,
  deprecated: false,
  retires_at: null,
  unpriced: null,
  calls: "free",
  deployments: [deployment("healthy")],
  unpriced_usage: [],
  last_week: { requests: 0, failed_requests: 0, cost_usd: 0 },
  managed_by: "console",
  created_at: 1,
};

test("search matches the name, the owner and the upstream model", () => {
  const found = ["GPT", "openai", "2026", "main", ""].map((search) => fitsModel(model, { search }));
  expect(found).toEqual([true, true, true, true, true]);
  expect(fitsModel(model, { search: "claude" })).toBe(false);
});

test("the filter finds models without a price", () => {
  const priced = { ...model, price: { input: 0 } };
  expect([fitsModel(model, { price: "none" }), fitsModel(priced, { price: "none" })]).toEqual([true, false]);
  expect([fitsModel(model, { price: "set" }), fitsModel(priced, { price: "set" })]).toEqual([false, true]);
});

test("disabled deployments do not affect a model's health; without enabled ones it is off", () => {
  expect(healthOf({ ...model, deployments: [deployment("healthy"), deployment("down", false)] })).toBe("healthy");
  expect(healthOf({ ...model, deployments: [deployment("healthy"), deployment("down")] })).toBe("unhealthy");
  expect(healthOf({ ...model, deployments: [deployment("healthy", false)] })).toBe("off");
  expect(fitsModel({ ...model, deployments: [deployment("down")] }, { health: "down", type: "chat" })).toBe(true);
});

test("a list without deployments, as members get it, can be searched", () => {
  const { deployments: _, ...bare } = model;
  expect([fitsModel(bare, { search: "gpt" }), fitsModel(bare, { provider: "main" })]).toEqual([true, false]);
});
