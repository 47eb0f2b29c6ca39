import { expect, test } from "bun:test";
import { ledgerEntry } from "../../../test/conformance/store-fixture.ts";
import { GenAiMetrics } from "./gen-ai-metrics.ts";
import { MetricExports } from "./metric-exports.ts";

/** Attempts of one model by several endpoints, which the conventions call one operation. */
function attempts(metrics: GenAiMetrics, times: number): void {
  for (let turn = 0; turn < times; turn++) {
    for (const endpoint of ["chat", "messages", "responses"] as const) {
      metrics.attemptEnd(ledgerEntry(`${endpoint}${turn}`, { endpoint }));
    }
  }
}

test("series of a metric differ in their attributes when a model is called by several endpoints", () => {
  const metrics = new GenAiMetrics(() => null, true);
  attempts(metrics, 1);
  metrics.attemptEnd(ledgerEntry("e", { endpoint: "embeddings" }));
  for (const { name, points } of metrics.measured()) {
    const attributes = points.map(({ labels }) => JSON.stringify(labels));
    expect([name, new Set(attributes).size]).toEqual([name, attributes.length]);
  }
});

test("exports with temporality delta what was added since the last export", () => {
  const metrics = new GenAiMetrics(() => null, false);
  const exports = new MetricExports("delta", 0);
  const exported = (atMs: number): number => {
    const found = exports
      .of(metrics.measured(), atMs)
      .find(({ name }) => name === "gen_ai.client.inference.usage.output_tokens");
    exports.sent();
    return (found?.points ?? []).reduce((sum, { value }) => sum + Number(value), 0);
  };
  const { output } = ledgerEntry("1").usage;
  attempts(metrics, 1);
  metrics.attemptEnd(ledgerEntry("more"));
  expect(exported(1)).toBe(4 * output);
  attempts(metrics, 2);
  expect(exported(2)).toBe(6 * output);
  expect(exported(3)).toBe(0);
});

test("the usage of another model has tokens, but no duration", () => {
  const metrics = new GenAiMetrics(() => null, false);
  metrics.attemptEnd(ledgerEntry("1", { calls: 0, totalMs: 0 }));
  const pointsOf = (wanted: string) => metrics.measured().find(({ name }) => name === wanted)?.points.length;
  expect(pointsOf("gen_ai.client.inference.duration")).toBe(0);
  expect(pointsOf("gen_ai.client.inference.usage.output_tokens")).toBe(1);
});
