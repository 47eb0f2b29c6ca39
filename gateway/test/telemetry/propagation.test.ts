import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { hello, type StartedGateway, scriptHeader, upstream } from "../started-gateway.ts";
import { type CollectedSpan, Collector } from "./collector.ts";
import { clientKind, serverKind, tracedGateway } from "./traced-gateway.ts";

const collector = new Collector();
let gateway: StartedGateway;

beforeAll(async () => {
  gateway = await tracedGateway(collector, {
    providers: (simulator) => [
      upstream("main", simulator),
      upstream("open", simulator, { settings: { forward_headers: [scriptHeader, "traceparent"] } }),
    ],
    models: ["main", "open"].map((provider) => ({
      name: `by-${provider}`,
      deployments: [{ provider, upstream_model: "upstream-gpt" }],
      price: { input: 1, output: 1 },
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

interface TracedCall {
  readonly call: CollectedSpan;
  readonly attempt: CollectedSpan;
  readonly sent: Readonly<Record<string, string>>;
}

async function tracedCall(model: string, headers: Record<string, string>): Promise<TracedCall> {
  const answer = await gateway.chat({ ...hello, model }, { headers });
  await answer.json();
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers ?? {};
  return await until(() => {
    const spans = collector.spansOf(answer.headers.get("x-request-id") ?? "");
    const call = spans.find(({ kind }) => kind === serverKind);
    const attempt = spans.find(({ kind }) => kind === clientKind);
    return call === undefined || attempt === undefined ? null : { call, attempt, sent };
  });
}

test("continues a caller's trace, and the upstream gets the attempt as parent", async () => {
  const { call, attempt, sent } = await tracedCall("by-main", {
    traceparent: `00-${traceId}-${parentId}-01`,
    tracestate: "vendor=opaque,other=1",
  });
  expect([call.traceId, call.parentSpanId, call.traceState]).toEqual([traceId, parentId, "vendor=opaque,other=1"]);
  expect([attempt.traceId, attempt.parentSpanId]).toEqual([traceId, call.spanId]);
  expect(sent["traceparent"]).toBe(`00-${traceId}-${attempt.spanId}-01`);
  expect(sent["tracestate"]).toBe("vendor=opaque,other=1");
});

test("starts a trace for a caller without one; upstreams get it only in a configured header", async () => {
  const withoutTrace = await tracedCall("by-main", {});
  expect(withoutTrace.call.parentSpanId).toBe("");
  expect(withoutTrace.sent["traceparent"]).toBeUndefined();
  const { attempt, sent } = await tracedCall("by-open", {});
  expect(sent["traceparent"]).toBe(`00-${attempt.traceId}-${attempt.spanId}-01`);
  expect(sent["tracestate"]).toBeUndefined();
});

test("an invalid traceparent starts a new trace and is not forwarded", async () => {
  for (const traceparent of ["nonsense", `00-${"0".repeat(32)}-${parentId}-01`, `ff-${traceId}-${parentId}-01`]) {
    const { call, attempt, sent } = await tracedCall("by-main", { traceparent, tracestate: "vendor=opaque" });
    expect([call.parentSpanId, call.traceState]).toEqual(["", ""]);
    expect(call.traceId).not.toBe(traceId);
    expect(sent["traceparent"]).toBe(`00-${attempt.traceId}-${attempt.spanId}-01`);
    expect(sent["tracestate"]).toBeUndefined();
  }
});

test("baggage is forwarded neither to upstreams nor to the collector", async () => {
  const { sent } = await tracedCall("by-open", { baggage: "user.id=ada-lovelace" });
  expect(sent["baggage"]).toBeUndefined();
  expect(JSON.stringify(collector.spans)).not.toContain("ada-lovelace");
});

test("a caller's decision not to sample suppresses spans and is forwarded", async () => {
  const answer = await gateway.chat(
    { ...hello, model: "by-main" },
    { headers: { traceparent: `00-${traceId}-${parentId}-00` } },
  );
  await answer.json();
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers ?? {};
  expect(sent["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  // Spans of later calls have arrived.
  await tracedCall("by-main", {});
  expect(collector.spansOf(answer.headers.get("x-request-id") ?? "")).toEqual([]);
});
