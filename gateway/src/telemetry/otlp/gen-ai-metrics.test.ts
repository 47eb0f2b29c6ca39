import { expect, test } from "bun:test";
import { ledgerEntry } from "../../../test/conformance/store-ground.ts";
import { GenAiMetrics } from "./gen-ai-metrics.ts";
import { MetricData } from "./metric-data.ts";

/** Attempts of one model by several endpoints, which the conventions call one operation. */
function attempts(metrics: GenAiMetrics, times: number): void {
  for (let turn = 0; turn < times; turn++) {
    for (const endpoint of ["chat", "messages", "responses"] as const) {
      metrics.attemptEnd(ledgerEntry(`${endpoint}${turn}`, { endpoint }));
    }
  }
}

test("no two series of a metric have the same attributes, by whichever endpoints its model is called", () => {
  const metrics = new GenAiMetrics(() => null, true);
  attempts(metrics, 1);
  metrics.attemptEnd(ledgerEntry("e", { endpoint: "embeddings" }));
  for (const { name, points } of metrics.measured()) {
    const attributes = points.map(({ labels }) => JSON.stringify(labels));
    expect([name, new Set(attributes).size]).toEqual([name, attributes.length]);
  }
});

test("with delta each export tells what came since, by whichever endpoints", () => {
  const metrics = new GenAiMetrics(() => null, false);
  const data = new MetricData("delta", 0);
  const told = (atMs: number): number => {
    const found = data
      .of(metrics.measured(), atMs)
      .find(({ name }) => name === "gen_ai.client.inference.usage.output_tokens");
    data.sent();
    return (found?.points ?? []).reduce((sum, { value }) => sum + Number(value), 0);
  };
  const { output } = ledgerEntry("1").usage;
  attempts(metrics, 1);
  metrics.attemptEnd(ledgerEntry("more"));
  expect(told(1)).toBe(4 * output);
  attempts(metrics, 2);
  expect(told(2)).toBe(6 * output);
  expect(told(3)).toBe(0);
});
