import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import { until } from "../../../test/until.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import {
  type CallerCase,
  callerCases,
  dialectGateway,
  preset,
  settle,
  type UpstreamCase,
  upstreamCases,
} from "./dialect-fixture.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  const limits = { concurrency: 1_000, rpm: 100_000, tpm: 1_000_000_000 };
  gateway = await startGateway(
    dialectGateway([], { groups: [{ name: "default", limits, budget: { usd: 1_000, period: "total" } }] }),
  );
});
afterAll(() => gateway.stop());

const pairs = upstreamCases.flatMap((upstream) => callerCases.map((caller) => [caller, upstream] as const));
const titled = pairs.map(([caller, upstream]) => [caller.id, upstream.id, caller, upstream] as const);

/** Pauses send each event separately, so that the fault follows the start of the answer. */
const breaks: readonly Script[] = [
  { tokens: 6, event_ms: 2, cut_after_events: 5 },
  { tokens: 6, event_ms: 2, reset_after_events: 5 },
  { tokens: 6, event_ms: 2, end_after_events: 5 },
  { tokens: 6, event_ms: 2, end_after_events: 5, half_event: true },
  { tokens: 6, event_ms: 2, break_chunking_after_events: 5 },
  { tokens: 6, event_ms: 2, error_event_after: 5 },
];

async function newest() {
  await settle(gateway);
  const [entry] = await gateway.entries();
  if (entry === undefined) throw new Error("no entry");
  return entry;
}

describe("a stream that its upstream cuts", () => {
  test.each(titled)(
    "ends with an error for a caller of %s on %s, and its output is charged as an estimate",
    async (_caller, _upstream, caller, upstream) => {
      for (const script of breaks) {
        preset(gateway, upstream, script);
        const response = await caller.call(gateway, `on-${upstream.id}`, { stream: true });
        const text = await response.text();
        // On a busy machine the fault may overtake the first event: then the whole answer is an error.
        const hasError = response.status === 502 || caller.errorEvent.test(text);
        expect([caller.goodEnd.test(text), hasError]).toEqual([false, true]);
        const { outcome, usage, usageSource, upstreamDialect } = await newest();
        expect([outcome, upstreamDialect]).toEqual(["failed", upstream.dialect]);
        expect(usage.output).toBeLessThanOrEqual(6 * 2);
        if (usage.output > 0) expect([usageSource, usage.inputUncached > 0]).toEqual(["estimated", true]);
        expect(gateway.gateway.outstanding()).toBe(0);
      }
    },
  );
});

describe("a caller that disconnects in mid-stream", () => {
  test.each(titled)(
    "of %s on %s ends the upstream's stream and is charged an estimate of the output so far",
    async (_caller, _upstream, caller, upstream) => {
      preset(gateway, upstream, { tokens: 50_000, event_ms: 5 });
      const leaving = new AbortController();
      const response = await caller.call(gateway, `on-${upstream.id}`, { stream: true, signal: leaving.signal });
      const reader = response.body?.getReader();
      for (let reads = 0; reads < 6; reads++) await reader?.read();
      leaving.abort();
      const { outcome, usage, usageSource, errorCode, attemptId } = await newest();
      expect([outcome, errorCode, usageSource]).toEqual(["cancelled", "client_closed", "estimated"]);
      expect(usage.inputUncached).toBeGreaterThan(0);
      expect(usage.output).toBeLessThan(50_000);
      const truth = () => gateway.simulator.simulator.truth.find(attemptId);
      await until(() => truth()?.aborted_at != null);
    },
  );
});

test.each(callerCases.map((caller) => [caller.id, caller] as const))(
  "a caller of %s that disconnects while the model is thinking pays for its input",
  async (_id, caller) => {
    for (const upstream of upstreamCases) {
      // Only the gateway can see when it has read the first event; a caller that disconnects earlier pays nothing.
      const { outcome, usage, usageSource } = await until(async () => {
        const entry = await leftWhileThinking(caller, upstream);
        return entry.usageSource === "none" ? null : entry;
      });
      expect([upstream.id, outcome, usageSource, usage.inputUncached > 0]).toEqual([
        upstream.id,
        "cancelled",
        "estimated",
        true,
      ]);
    }
  },
);

/** If the caller's API has no event for thinking, the caller disconnects before even the headers were sent. */
async function leftWhileThinking(caller: CallerCase, upstream: UpstreamCase) {
  preset(gateway, upstream, { tokens: 500, stall_after_events: 1 });
  const leaving = new AbortController();
  const before = gateway.simulator.simulator.truth.list().total;
  const call = caller.call(gateway, `on-${upstream.id}`, { stream: true, signal: leaving.signal });
  const left = call.then((response) => response.text()).catch(() => "left");
  const truth = () => gateway.simulator.simulator.truth.list();
  await until(() => truth().total > before && (truth().data.at(-1)?.events_emitted ?? 0) > 0);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  leaving.abort();
  await left;
  return await newest();
}

describe("usage of a complete stream", () => {
  test.each(titled)(
    "for a caller of %s on %s: zero counts, and missing usage is estimated",
    async (_caller, _upstream, caller, upstream) => {
      const ask = async (script: Script) => {
        preset(gateway, upstream, script);
        const response = await caller.call(gateway, `on-${upstream.id}`, { stream: true });
        expect(caller.goodEnd.test(await response.text())).toBe(true);
        const { outcome, usage, usageSource } = await newest();
        return [outcome, usageSource, usage.inputUncached > 0, usage.output > 0];
      };
      expect(await ask({ tokens: 3, zero_usage: true })).toEqual(["succeeded", "upstream", false, false]);
      expect(await ask({ tokens: 3, no_usage: true })).toEqual(["succeeded", "estimated", true, true]);
    },
  );

  test.each(callerCases.map((caller) => [caller.id, caller] as const))(
    "that would come only at the end is not zero when the stream to a caller of %s is cut",
    async (_id, caller) => {
      const upstream = upstreamCases.find(({ id }) => id === "messages");
      if (upstream === undefined) throw new Error("no such upstream");
      preset(gateway, upstream, { tokens: 6, event_ms: 2, late_usage: true, end_after_events: 5 });
      await (await caller.call(gateway, "on-messages", { stream: true })).text();
      const { usage, usageSource } = await newest();
      expect([usageSource, usage.inputUncached > 0, usage.output > 0]).toEqual(["estimated", true, true]);
    },
  );
});
