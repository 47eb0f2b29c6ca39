import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { hi, version } from "../endpoints/messages/claude-gateway.ts";
import { aliceKey, hello, type StartedGateway, upstream } from "../started-gateway.ts";
import { type CollectedSpan, Collector } from "./collector.ts";
import { clientKind, tracedGateway } from "./traced-gateway.ts";

const plainKey = "sk-plain-0123456789abcdefghij";
const headersKey = "sk-headers-0123456789abcdefgh";
const switchName = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

const keys = [
  { name: "alice", secret: aliceKey, capture: "bodies" as const },
  { name: "headers", secret: headersKey, capture: "headers" as const },
  { name: "plain", secret: plainKey },
];

const collector = new Collector();
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await tracedGateway(
    collector,
    {
      providers: (simulator) => [upstream("main", simulator), upstream("claude", simulator, { kind: "anthropic" })],
      models: [
        { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }] },
        { name: "claude-test", deployments: [{ provider: "claude", upstream_model: "upstream-claude" }] },
        { name: "embed-test", type: "embedding", deployments: [{ provider: "main", upstream_model: "up-embed" }] },
      ],
      keys,
    },
    { [switchName]: "span_only", OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none" },
  );
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

/** The spans of the call's attempts, once all spans of the call have arrived. */
async function attemptsOf(response: Response): Promise<readonly CollectedSpan[]> {
  await response.arrayBuffer();
  const requestId = response.headers.get("x-request-id") ?? "";
  await until(() => collector.spansOf(requestId).some(({ kind }) => kind !== clientKind));
  return collector.spansOf(requestId).filter(({ kind }) => kind === clientKind);
}

function contentOf(span: CollectedSpan | undefined) {
  const read = (name: string) => {
    const text = span?.attributes[name];
    return typeof text === "string" ? JSON.parse(text) : null;
  };
  return {
    system: read("gen_ai.system_instructions"),
    input: read("gen_ai.input.messages"),
    output: read("gen_ai.output.messages"),
  };
}

const text = (content: unknown) => ({ type: "text", content });
const question = [{ role: "user", parts: [text("Say hello to everyone")] }];
const answered = [{ role: "assistant", parts: [text(expect.stringMatching(/\w/))], finish_reason: expect.any(String) }];

const calls = [
  { what: "chat completions", path: "/v1/chat/completions", body: { ...hello }, headers: {}, system: null },
  {
    what: "messages",
    path: "/v1/messages",
    body: { ...hi, system: "Be brief." },
    headers: version,
    system: [text("Be brief.")],
  },
  {
    what: "responses",
    path: "/v1/responses",
    body: { model: "gpt-test", input: "Say hello to everyone", instructions: "Be brief." },
    headers: {},
    system: [text("Be brief.")],
  },
];

for (const { what, path, body, headers, system } of calls) {
  test.each([false, true])(
    `${what}, streamed: %p: the attempt's span has the request and the answer`,
    async (stream) => {
      const response = await gateway.post(path, { ...body, stream }, { headers });
      const attempts = await attemptsOf(response);
      expect(attempts).toHaveLength(1);
      expect(contentOf(attempts[0])).toEqual({ system, input: question, output: answered });
      expect(attempts[0]?.attributes["sluice.content.truncated"]).toBeUndefined();
      const [call] = collector
        .spansOf(response.headers.get("x-request-id") ?? "")
        .filter(({ kind }) => kind !== clientKind);
      expect(Object.keys(call?.attributes ?? {}).filter((name) => /messages|instructions/.test(name))).toEqual([]);
    },
  );
}

test("only the last attempt of a call has content; a failed one has no output", async () => {
  const failed = await attemptsOf(await gateway.chat(hello, { script: { status: 500 } }));
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.map((span) => contentOf(span).input)).toEqual([...failed.slice(1).map(() => null), question]);
  expect(failed.map((span) => contentOf(span).output)).toEqual(failed.map(() => null));
});

test("other endpoints have no content, nor calls of keys that do not capture bodies", async () => {
  const others = [
    await gateway.post("/v1/embeddings", { model: "embed-test", input: "a secret of the heart" }),
    await gateway.chat(hello, { key: plainKey }),
    await gateway.chat({ ...hello, stream: true }, { key: headersKey }),
  ];
  for (const response of others) {
    const attempts = await attemptsOf(response);
    expect(attempts).toHaveLength(1);
    expect(contentOf(attempts[0])).toEqual({ system: null, input: null, output: null });
    expect(JSON.stringify(attempts)).not.toMatch(/Say hello|of the heart/);
  }
});

test("masks credentials in requests and responses", async () => {
  const body = { ...hello, messages: [{ role: "user", content: `I am ${aliceKey}, and sk-upstream-of-main` }] };
  const attempts = await attemptsOf(await gateway.chat(body));
  expect(contentOf(attempts[0]).input).toEqual([
    { role: "user", parts: [text(expect.stringMatching(/^I am (?!.*alice)/))] },
  ]);
  expect(JSON.stringify(collector.spans)).not.toContain(aliceKey);
  expect(JSON.stringify(collector.spans)).not.toContain("sk-upstream-of-main");
});

test("cuts long conversations, and marks the span", async () => {
  const messages = Array.from({ length: 30 }, (_, at) => ({
    role: "user",
    content: `${at} ${"words ".repeat(1_000)}`,
  }));
  const [span] = await attemptsOf(await gateway.chat({ ...hello, messages }));
  expect(span?.attributes["sluice.content.truncated"]).toBe(true);
  const { input } = contentOf(span);
  expect(input.length).toBeGreaterThan(5);
  expect(input.length).toBeLessThan(30);
  expect(input[0].parts[0].content).toStartWith("0 words");
});

test.each(["http/protobuf", "http/json"])(
  "as %s: full requests are sent at once, and none is too large",
  async (protocol) => {
    const patient = new Collector();
    const started = await tracedGateway(
      patient,
      { keys },
      {
        ...{ OTEL_BSP_SCHEDULE_DELAY: "3600000", OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none" },
        ...{ OTEL_EXPORTER_OTLP_PROTOCOL: protocol, [switchName]: "span_only" },
      },
    );
    try {
      const messages = [{ role: "user", content: "words ".repeat(10_000) }];
      for (let call = 0; call < 50; call++) await (await started.chat({ ...hello, messages })).arrayBuffer();
      await until(() => patient.spans.length > 40);
      for (const { headers } of patient.arrived) {
        expect(Number(headers.get("content-length"))).toBeLessThan(bounds.contentRequestBytesMax * 1.5);
      }
    } finally {
      await started.stop();
      await patient.stop();
    }
    expect(patient.spans).toHaveLength(100);
  },
);

test.each([
  { protocol: "http/protobuf", mode: "event_only", sampler: "always_on" },
  { protocol: "http/json", mode: "span_and_event", sampler: "always_on" },
  { protocol: "http/protobuf", mode: "event_only", sampler: "always_off" },
])("as %j: exports messages as lists in an event of the attempt", async ({ protocol, mode, sampler }) => {
  const others = new Collector();
  const variables = { OTEL_EXPORTER_OTLP_PROTOCOL: protocol, [switchName]: mode, OTEL_TRACES_SAMPLER: sampler };
  const started = await tracedGateway(others, { keys }, { ...variables, OTEL_METRICS_EXPORTER: "none" });
  try {
    await (await started.chat(hello, { key: plainKey })).arrayBuffer();
    const body = { ...hello, messages: [{ role: "user", content: `I am ${aliceKey}` }] };
    const requestId = (await started.chat(body)).headers.get("x-request-id") ?? "";
    const events = () => others.logs.filter(({ eventName }) => eventName !== "");
    await until(() => events().length > 0 && (sampler === "always_off" || others.spansOf(requestId).length === 2));
    expect(events()).toEqual([
      expect.objectContaining({ eventName: "gen_ai.client.inference.operation.details", body: "" }),
    ]);
    const [event] = events();
    expect(event?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.input.messages": [{ role: "user", parts: [text(expect.stringMatching(/^I am (?!.*alice)/))] }],
      "gen_ai.output.messages": answered,
      "sluice.request.id": requestId,
    });
    const span = others.spansOf(requestId).find(({ kind }) => kind === clientKind);
    if (sampler === "always_on") expect([event?.traceId, event?.spanId]).toEqual([span?.traceId, span?.spanId]);
    expect(contentOf(span).output).toEqual(mode === "event_only" ? null : answered);
    expect(JSON.stringify(others.logs)).not.toContain(aliceKey);
  } finally {
    await started.stop();
    await others.stop();
  }
});

test("without the setting no span has content, whatever the key's capture is; also as JSON", async () => {
  const others = new Collector();
  const off = await tracedGateway(others, { keys }, { OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none" });
  const json = { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", [switchName]: "true", OTEL_METRICS_EXPORTER: "none" };
  const on = await tracedGateway(others, { keys }, { ...json, OTEL_LOGS_EXPORTER: "none" });
  try {
    const silent = (await off.chat(hello)).headers.get("x-request-id") ?? "";
    const shown = (await on.chat(hello)).headers.get("x-request-id") ?? "";
    await until(() => others.spansOf(silent).length === 2 && others.spansOf(shown).length === 2);
    expect(JSON.stringify(others.spansOf(silent))).not.toContain("Say hello");
    expect(contentOf(others.spansOf(shown).find(({ kind }) => kind === clientKind)).input).toEqual(question);
  } finally {
    await Promise.all([off.stop(), on.stop()]);
    await others.stop();
  }
});
