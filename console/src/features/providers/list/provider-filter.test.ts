import { expect, test } from "bun:test";
import type { ProviderRow } from "./provider-columns.tsx";
import { fitsProvider } from "./provider-filter.ts";

const provider: ProviderRow = {
  id: "main",
  kind: "ark",
  title: "Volcengine Ark",
  base_url: "https://ark.cn-beijing.volces.com/api/v3",
  has_api_key: true,
  allow_private_network: false,
  timeouts: {},
  disconnect: null,
  enabled: true,
  settings: {},
  billing: null,
  deployments: 0,
  health: { state: "down", breaker: "open", cooling_ms: 0, in_flight: 0, latency_ms: null, last_hour: null },
  managed_by: "console",
  created_at: 1,
};

test("search matches name, type and address", () => {
  const found = ["MAIN", "volcengine", "volces.com", ""].map((search) => fitsProvider(provider, { search }));
  expect(found).toEqual([true, true, true, true]);
  expect(fitsProvider(provider, { search: "openai" })).toBe(false);
});

test("all filters must match", () => {
  expect(fitsProvider(provider, { health: "down", use: "enabled" })).toBe(true);
  expect(fitsProvider(provider, { health: "healthy" })).toBe(false);
  expect(fitsProvider(provider, { use: "disabled" })).toBe(false);
  expect(fitsProvider(provider, { use: "idle" })).toBe(true);
  expect(fitsProvider({ ...provider, deployments: 1 }, { use: "idle" })).toBe(false);
});
