import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LedgerEntry } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { arkAccount, settledTask, taskRequest } from "../endpoints/video-tasks/video-gateway.ts";
import { aliceKey, hello, type StartedGateway, upstream } from "../started-gateway.ts";
import { type CollectedSpan, Collector } from "./collector.ts";
import { clientKind, serverKind, tracedGateway } from "./traced-gateway.ts";

for (const protocol of ["http/protobuf", "http/json"]) {
  const collector = new Collector();
  let gateway: StartedGateway;
  const title = (text: string): string => `${protocol}: ${text}`;

  beforeAll(async () => {
    gateway = await tracedGateway(
      collector,
      {
        providers: (simulator) => [
          upstream("main", simulator),
          upstream("spare", simulator),
          upstream("claude", simulator, { kind: "anthropic" }),
          upstream("open", simulator, { kind: "openai" }),
          upstream("gone", simulator, { base_url: "http://127.0.0.1:9" }),
          arkAccount(simulator),
        ],
        models: [
          {
            name: "gpt-test",
            deployments: [{ provider: "main", upstream_model: "upstream-gpt" }],
            price: { input: 1.25, cache_read: 0.125, output: 10 },
          },
          {
            name: "twice",
            deployments: [
              { provider: "gone", upstream_model: "first-gpt", priority: 1 },
              { provider: "spare", upstream_model: "second-gpt", priority: 2 },
            ],
            price: { input: 2, output: 8 },
          },
          {
            name: "claude-test",
            deployments: [{ provider: "claude", upstream_model: "upstream-claude" }],
            price: { input: 3, output: 15 },
          },
          {
            name: "answers-test",
            deployments: [{ provider: "open", upstream_model: "upstream-answers" }],
            price: { input: 1, output: 4 },
          },
          {
            name: "embed-test",
            type: "embedding",
            deployments: [{ provider: "open", upstream_model: "upstream-embed" }],
            price: { input: 0.1 },
          },
          {
            name: "paint-test",
            type: "image",
            deployments: [{ provider: "volc", upstream_model: "doubao-seedream-4-5" }],
            price: { image: 0.04 },
          },
          {
            name: "clip-test",
            type: "video",
            deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
            price: { output: 6 },
          },
        ],
        keys: [
          { name: "alice", secret: aliceKey },
          { name: "slow", secret: "sk-slow-0123456789abcdefghijk", limits: { rpm: 1 } },
          { name: "poor", secret: "sk-poor-0123456789abcdefghijk", budget: { usd: 0.000001, period: "day" } },
        ],
      },
      { OTEL_EXPORTER_OTLP_PROTOCOL: protocol },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await collector.stop();
  });

  /** The SERVER span of the answer's request, and its CLIENT spans in order. */
  async function spansOf(
    answer: Response,
    attempts: number,
  ): Promise<{ call: CollectedSpan; attempts: CollectedSpan[] }> {
    const id = answer.headers.get("x-request-id") ?? "";
    return await until(() => {
      const spans = collector.spansOf(id);
      const call = spans.find(({ kind }) => kind === serverKind);
      const clients = spans.filter(({ kind, links }) => kind === clientKind && links.length === 0);
      if (call === undefined || clients.length < attempts) return null;
      clients.sort((one, other) => one.startMs - other.startMs || Number(one.attributes["sluice.retry"] ?? 0));
      return { call, attempts: clients };
    });
  }

  async function entriesOf(answer: Response): Promise<LedgerEntry[]> {
    const id = answer.headers.get("x-request-id");
    return (await gateway.entries()).filter(({ requestId }) => requestId === id).reverse();
  }

  function expectSpanOfEntry(
    span: CollectedSpan | undefined,
    entry: LedgerEntry | undefined,
    call: CollectedSpan,
  ): void {
    if (span === undefined || entry === undefined) throw new Error("There is none.");
    const { usage } = entry;
    expect(span.traceId).toBe(call.traceId);
    expect(span.parentSpanId).toBe(call.spanId);
    expect(span.attributes).toMatchObject({
      "gen_ai.request.model": entry.upstreamModel,
      "gen_ai.usage.input_tokens": usage.inputUncached + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h,
      "gen_ai.usage.output_tokens": usage.output + usage.imageOutput,
      "sluice.cost.nano_usd": entry.costNanoUsd,
      "sluice.attempt.id": entry.attemptId,
      "sluice.workspace": "acme",
      "sluice.key.name": "alice",
    });
    expect(span.startMs).toBeGreaterThanOrEqual(call.startMs);
    expect(span.endMs).toBeLessThanOrEqual(call.endMs);
    expect(call.attributes["sluice.request.cost.nano_usd"]).toBe(entry.costNanoUsd);
  }

  test(
    title("a whole call is a SERVER span with a CLIENT span below it, with the ledger's tokens and cost"),
    async () => {
      const answer = await gateway.chat(hello);
      await answer.json();
      const { call, attempts } = await spansOf(answer, 1);
      expect(call.name).toBe("POST /v1/chat/completions");
      expect(call.parentSpanId).toBe("");
      expect(call.status).toBe(0);
      expect(call.attributes).toMatchObject({
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
        "sluice.workspace": "acme",
        "sluice.key.name": "alice",
        "sluice.attempts": 1,
      });
      expect(call.resource).toMatchObject({ "service.name": "sluice", "service.version": "0.0.0-test" });
      expect(call.resource["vcs.ref.head.revision"]).toBe("72c595dc");
      expect(String(call.resource["service.instance.id"])).toStartWith("proc_");
      const [entry] = await entriesOf(answer);
      expectSpanOfEntry(attempts[0], entry, call);
      expect(entry?.costNanoUsd).toBeGreaterThan(0);
      expect(attempts[0]?.name).toBe("chat upstream-gpt");
      expect(attempts[0]?.attributes).toMatchObject({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai-compatible",
        "server.address": "127.0.0.1",
        "sluice.outcome": "succeeded",
      });
      expect(attempts[0]?.attributes).not.toHaveProperty("gen_ai.request.stream");
    },
  );

  test(title("a stream's span has the time of its first chunk and the ledger's tokens"), async () => {
    const answer = await gateway.chat({ ...hello, stream: true });
    await answer.text();
    const { call, attempts } = await spansOf(answer, 1);
    const [entry] = await entriesOf(answer);
    expectSpanOfEntry(attempts[0], entry, call);
    expect(attempts[0]?.attributes["gen_ai.request.stream"]).toBe(true);
    expect(attempts[0]?.attributes["gen_ai.response.time_to_first_chunk"]).toBeCloseTo(
      (entry?.firstTokenMs ?? 0) / 1_000,
      6,
    );
  });

  test(title("a call that failed over has a span for each attempt, the first with its error"), async () => {
    const answer = await gateway.chat({ ...hello, model: "twice" });
    expect(answer.status).toBe(200);
    const { call, attempts } = await spansOf(answer, 2);
    expect(attempts.map(({ attributes }) => attributes["gen_ai.request.model"])).toEqual(["first-gpt", "second-gpt"]);
    expect(attempts.map(({ status }) => status)).toEqual([2, 0]);
    expect(attempts[0]?.attributes["error.type"]).toBe("upstream_unreachable");
    expect(call.status).toBe(0);
    expect(call.attributes["sluice.attempts"]).toBe(2);
    const entries = await entriesOf(answer);
    expectSpanOfEntry(attempts[1], entries[1], call);
  });

  test(title("an upstream's error ends both spans with its class and message"), async () => {
    const answer = await gateway.chat(hello, { script: { status: 500 } });
    await answer.text();
    expect(answer.status).toBeGreaterThanOrEqual(500);
    const { call, attempts } = await spansOf(answer, 1);
    expect([call.status, attempts[0]?.status]).toEqual([2, 2]);
    expect(call.attributes["error.type"]).toBe(attempts[0]?.attributes["error.type"]);
    expect(call.statusMessage).toContain(" ");
    expect(attempts[0]?.attributes["error.type"]).toBe("upstream_error");
    expect(attempts[0]?.statusMessage).toBe(
      "The upstream answered 500. It said: The server had an error while processing your request.",
    );
  });

  test(
    title("refused calls have a SERVER span with the code and no attempt: 401, 429, budget, unknown model"),
    async () => {
      const unknown = await gateway.chat(hello, { key: "sk-nobody-0123456789abcdefgh" });
      await gateway.chat(hello, { key: "sk-slow-0123456789abcdefghijk" });
      const limited = await gateway.chat(hello, { key: "sk-slow-0123456789abcdefghijk" });
      const poor = await gateway.chat(hello, { key: "sk-poor-0123456789abcdefghijk" });
      const missing = await gateway.chat({ ...hello, model: "no-such-model" });
      const refusals = [
        [unknown, 401, "invalid_api_key"],
        [limited, 429, "rate_limit_exceeded"],
        [poor, 402, "budget_exceeded"],
        [missing, 404, "model_not_found"],
      ] as const;
      for (const [answer, status, code] of refusals) {
        const { call, attempts } = await spansOf(answer, 0);
        expect([answer.status, call.attributes["http.response.status_code"]]).toEqual([status, status]);
        expect(call.attributes["error.type"]).toBe(code);
        expect([call.status, attempts.length]).toEqual([0, 0]);
      }
    },
  );

  test(title("a caller that disconnects ends the attempt as cancelled, without an upstream error"), async () => {
    const gone = new AbortController();
    const answer = await gateway.chat(
      { ...hello, stream: true },
      { signal: gone.signal, script: { tokens: 500, event_ms: 20 } },
    );
    await answer.body?.getReader().read();
    gone.abort();
    const { call, attempts } = await spansOf(answer, 1);
    expect(attempts[0]?.attributes).toMatchObject({ "sluice.outcome": "cancelled", "error.type": "client_closed" });
    expect([call.status, attempts[0]?.status]).toEqual([0, 0]);
    const [entry] = await entriesOf(answer);
    expectSpanOfEntry(attempts[0], entry, call);
  });

  const others: readonly (readonly [path: string, body: object, operation: string, headers: Record<string, string>])[] =
    [
      [
        "/v1/messages",
        { model: "claude-test", max_tokens: 50, messages: hello.messages },
        "chat",
        { "anthropic-version": "2023-06-01" },
      ],
      ["/v1/responses", { model: "answers-test", input: "Say hello" }, "chat", {}],
      ["/v1/embeddings", { model: "embed-test", input: "one two three" }, "embeddings", {}],
      ["/v1/images/generations", { model: "paint-test", prompt: "a boat", size: "1024x1024" }, "generate_content", {}],
    ];
  for (const [path, body, operation, headers] of others) {
    test(title(`${path} has its route and its operation`), async () => {
      const answer = await gateway.post(path, body, { headers });
      expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
      const { call, attempts } = await spansOf(answer, 1);
      const [entry] = await entriesOf(answer);
      expect(call.attributes["http.route"]).toBe(path);
      expect(attempts[0]?.attributes["gen_ai.operation.name"]).toBe(operation);
      expectSpanOfEntry(attempts[0], entry, call);
      if (entry?.usage.images) expect(attempts[0]?.attributes["sluice.usage.images"]).toBe(entry.usage.images);
    });
  }

  test(title("a video task is a separate trace, linked both ways with the call that created it"), async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const answer = await gateway.post("/v1/video/tasks", taskRequest, {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    await settledTask(gateway, ((await answer.json()) as { id: string }).id);
    const { call } = await spansOf(answer, 0);
    const task = await until(() =>
      collector.spansOf(answer.headers.get("x-request-id") ?? "").find(({ kind }) => kind === clientKind),
    );
    expect([call.traceId, call.parentSpanId]).toEqual([traceId, "b7ad6b7169203331"]);
    expect(task.traceId).not.toBe(traceId);
    expect(task.links).toMatchObject([{ traceId, spanId: call.spanId }]);
    expect(call.links).toMatchObject([{ traceId: task.traceId, spanId: task.spanId }]);
    const [entry] = await entriesOf(answer);
    expect(task.name).toBe("generate_content doubao-seedance-2-0-260128");
    expect(task.attributes).toMatchObject({
      "sluice.endpoint": "video",
      "sluice.cost.nano_usd": entry?.costNanoUsd,
      "gen_ai.usage.output_tokens": entry?.usage.output,
    });
  });

  test(title("no span contains a key or any content"), async () => {
    const secretWords = "the quick brown fox of the secret plan";
    const answer = await gateway.chat({ ...hello, messages: [{ role: "user", content: secretWords }] });
    const content = ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message
      .content;
    await spansOf(answer, 1);
    const all = JSON.stringify(collector.spans);
    expect(content?.length).toBeGreaterThan(3);
    for (const word of [secretWords, aliceKey, "sk-upstream-of-main"]) expect(all).not.toContain(word);
    if (content !== undefined) expect(all).not.toContain(JSON.stringify(content).slice(1, -1));
  });
}
