import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { callerCases, dialectGateway, modelOn, settle, type UpstreamCase, upstreamCases } from "./dialect-fixture.ts";

/** The first upstream's failure, and its code in the ledger. `streams`: only a stream can fail this way. */
const failures: readonly { what: string; script: Script; code: string; streams?: true }[] = [
  { what: "a server error", script: { status: 500 }, code: "upstream_error" },
  { what: "an overload", script: { status: 529 }, code: "upstream_error" },
  { what: "a spent quota", script: { status: 429, retry_after: 60 }, code: "upstream_error" },
  { what: "a refused credential", script: { status: 401 }, code: "upstream_error" },
  { what: "an unknown model", script: { status: 404 }, code: "upstream_error" },
  { what: "a connection closed without an answer", script: { drop: true }, code: "upstream_unreachable" },
  { what: "bytes that are no HTTP answer", script: { raw_reply: "hello\r\n\r\n" }, code: "upstream_error" },
  { what: "a 200 that is not JSON", script: { body: "<html>busy</html>" }, code: "upstream_error" },
  { what: "silence", script: { latency_ms: 600_000 }, code: "upstream_timeout" },
  {
    what: "a stream that ends before it begins",
    script: { end_after_events: 0 },
    code: "upstream_truncated",
    streams: true,
  },
  {
    what: "a stream that is cut before it begins",
    script: { cut_after_events: 0 },
    code: "upstream_truncated",
    streams: true,
  },
  { what: "an error as the first event", script: { error_event_after: 0 }, code: "upstream_error", streams: true },
  {
    what: "silence after the status line",
    script: { first_event_ms: 600_000 },
    code: "upstream_timeout",
    streams: true,
  },
];

/** Each of the three APIs that fails first, followed by another one. */
const orders = [
  ["messages", "chat"],
  ["chat", "gemini"],
  ["gemini", "responses"],
  ["responses", "messages"],
  ["converse", "chat"],
] as const;

const caseOf = (id: string): UpstreamCase => {
  const found = upstreamCases.find((one) => one.id === id);
  if (found === undefined) throw new Error(id);
  return found;
};

const runs = failures.flatMap((failure, index) => {
  const order = orders[index % orders.length] ?? orders[0];
  return callerCases.flatMap((caller, callerIndex) =>
    (failure.streams === true ? [true] : [true, false]).map((stream) => {
      const turned = orders[(index + callerIndex) % orders.length] ?? order;
      const name = `m${index}-${caller.id}-${stream ? "stream" : "whole"}`;
      const chain = turned.map((id) => ({ ...caseOf(id), upstreamModel: upstreamName(caseOf(id), name) }));
      return { ...failure, caller, stream: stream && failure.what !== "a 200 that is not JSON", name, chain };
    }),
  );
});

/** A separate name for each run, so that breakers are not shared. */
function upstreamName({ upstreamModel }: UpstreamCase, run: string): string {
  return `${upstreamModel}-${run}`;
}

let gateway: StartedGateway;
beforeAll(async () => {
  const base = dialectGateway();
  gateway = await startGateway({
    ...base,
    settings: { retry_sent: true },
    providers: (simulator) =>
      upstreamCases.map((one) => ({
        ...one.provider(simulator),
        timeouts: { headers_ms: 1_000, first_event_ms: 1_000 },
      })),
    models: runs.map(({ chain, name }) => modelOn(chain, name)),
  });
});
afterAll(() => gateway.stop());

describe("a failure of the first upstream before its first event is served by the next, for all pairs of APIs", () => {
  test.each(runs.map((run) => [run.what, run.caller.id, run.stream ? "streaming" : "whole", run] as const))(
    "%s, for a caller of %s, %s",
    async (_what, _caller, _mode, { script, code, caller, stream, name, chain }) => {
      const [first, second] = chain;
      if (first === undefined || second === undefined) throw new Error("a chain of two");
      gateway.simulator.simulator.addPreset({ script, count: null, model: first.upstreamModel });
      gateway.simulator.simulator.addPreset({ script: { tokens: 3 }, count: null, model: second.upstreamModel });
      const response = await caller.call(gateway, name, { stream });
      const text = await response.text();
      expect([response.status, response.headers.get("x-sluice-provider")]).toEqual([200, second.id]);
      expect(response.headers.get("x-sluice-attempts")).toBe("2");
      if (stream) expect([caller.goodEnd.test(text), caller.errorEvent.test(text)]).toEqual([true, false]);
      await settle(gateway);
      const entries = (await gateway.entries()).filter((entry) => entry.model === name);
      expect(
        entries.map(({ outcome, errorCode, provider, upstreamDialect, callerDialect, retryIndex, usage }) => ({
          outcome,
          errorCode,
          provider,
          upstreamDialect,
          callerDialect,
          retryIndex,
          output: usage.output,
        })),
      ).toEqual([
        {
          outcome: "succeeded",
          errorCode: null,
          provider: second.id,
          upstreamDialect: second.dialect,
          callerDialect: caller.dialect,
          retryIndex: 1,
          output: 3,
        },
        {
          outcome: "failed",
          errorCode: code,
          provider: first.id,
          upstreamDialect: first.dialect,
          callerDialect: caller.dialect,
          retryIndex: 0,
          output: 0,
        },
      ]);
      expect(gateway.gateway.outstanding()).toBe(0);
    },
  );
});
