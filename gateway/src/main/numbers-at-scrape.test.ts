import { expect, test } from "bun:test";
import type { ConfigSnapshot } from "#core/index.ts";
import type { Router } from "#routing/index.ts";
import { breakersOf } from "./numbers.ts";

type State = ReturnType<Router["states"]>[number];

test("reports a breaker as open while it blocks calls, not while there are none", () => {
  const provider = { id: "openai" };
  const deployments = ["a", "b", "c"].map((id) => ({ id, enabled: id !== "c", provider }));
  const configSnapshot = { models: new Map([["gpt", { name: "gpt", deployments }]]) } as unknown as ConfigSnapshot;
  const state = (deploymentId: string, coolingMs: number): State => ({
    ...{ deploymentId, breaker: "open", inFlight: 0, coolingMs, latencyMs: null },
  });
  const states = [state("a", 12_000), state("b", 0), state("c", 12_000)];
  expect(breakersOf(configSnapshot, { states: () => states })).toEqual([
    { deployment: "a", provider: "openai", model: "gpt", breaker: "open" },
    { deployment: "b", provider: "openai", model: "gpt", breaker: "half-open" },
  ]);
});
