import { expect, test } from "bun:test";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import type { RequestEnd } from "#ports/index.ts";
import { SpanBytes } from "../../src/telemetry/otlp/request-bytes.ts";
import { SpanMaker, SpanStore } from "../../src/telemetry/otlp/span-maker.ts";
import { Traces } from "../../src/telemetry/otlp/traces.ts";
import { origin } from "./opentelemetry.ts";
import { traces as shape } from "./otlp-shapes.ts";
import { readMessage } from "./protobuf.ts";

const principal = {
  key: { id: "key_1", name: "alice", prefix: "sk-alice" },
  workspace: { id: "ws_1", slug: "acme" },
  group: { name: "default" },
} as RequestEnd["principal"];

function opened() {
  const traces = new Traces({ sampler: { parentBased: true, ratio: 1 }, propagates: true });
  const maker = new SpanMaker({ traces, upstreamOf: () => null, oldNames: false, costNames: false });
  return new SpanStore(maker, new SpanBytes(origin));
}

interface Span {
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

/** The names of the spans that are ready, and of their keys. */
function readySpans(store: SpanStore) {
  const request = readMessage(store.take(10)?.items ?? new Uint8Array(0), shape) as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
  };
  const spans = request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const keyOf = ({ attributes }: Span) => attributes.find(({ key }) => key === "sluice.key.name")?.value.stringValue;
  return spans.map((span) => ({ name: span.name, key: keyOf(span) }));
}

const entry = (attemptId: string): LedgerEntry =>
  ({
    ...{
      attemptId,
      requestId: "req_1",
      userAgent: "",
      at: 1,
      totalMs: 2,
      workspaceId: "ws_1",
      keyId: "key_1",
      endpoint: "chat",
    },
    ...{ provider: "main", deployment: "dep_1", model: "gpt", upstreamModel: "gpt-up", outcome: "succeeded" },
    ...{ usage: noUsage, usageSource: "none", priceVersion: null, errorCode: null, upstreamId: null, tags: {} },
  }) as unknown as LedgerEntry;
const end = {
  requestId: "req_1",
  method: "POST",
  route: "chat",
  status: 200,
  totalMs: 3,
  address: "",
  key: "sk-alice",
};
const ended = { end: { ...end, model: "gpt", error: null, principal } as RequestEnd, endMs: 4 };

test("names the key in the attempts of its first call, which wait for the end of that call", () => {
  const store = opened();
  store.put(entry("att_1"));
  expect(store.size).toBe(1);
  expect(store.take(10)).toBeNull();
  store.put(ended);
  expect(readySpans(store)).toEqual([
    { name: "chat gpt-up", key: "alice" },
    { name: "POST /v1/chat/completions", key: "alice" },
  ]);
  store.put(entry("att_2"));
  expect(readySpans(store)).toEqual([{ name: "chat gpt-up", key: "alice" }]);
});

test("exports an attempt of an endless call after one export interval, without its key's name", () => {
  const store = opened();
  store.put(entry("att_1"));
  let batches = 0;
  let spans = 0;
  while (store.size > 0) {
    batches++;
    spans += store.take(10)?.size ?? 0;
  }
  expect([batches, spans]).toEqual([2, 1]);
});
