import { afterEach, describe, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

/** USD per million: 1,000 tokens cost 0.01 USD. */
const price = { input: 10, output: 10, image_output: 40 };
const contextWindow = 20_000;
const kinds = { openai: "openai", chat: "openai-compatible", claude: "anthropic", gem: "gemini" } as const;
type Upstream = keyof typeof kinds;

async function start(usd: number, context_window: number | null = contextWindow): Promise<void> {
  const names = Object.keys(kinds) as Upstream[];
  const granted = { pass_through: names };
  gateway = await startGateway({
    providers: (simulator) =>
      names.map((name) =>
        upstream(name, simulator, {
          kind: kinds[name],
          ...(name === "gem" ? { settings: { endpoints: ["generate"] } } : {}),
        }),
      ),
    models: names.map((name) => ({
      name,
      deployments: [{ provider: name, upstream_model: name === "claude" ? "claude-sim-4-5" : `upstream-${name}` }],
      price,
      ...(context_window === null ? {} : { context_window }),
    })),
    workspace: { ...granted, groups: [{ name: "default", ...granted }] },
    keys: [{ name: "alice", secret: aliceKey, ...granted, budget: { usd, period: "total" } }],
  });
}

const headers = { "anthropic-version": "2023-06-01" };
const cap = 10;
const url = "https://example.com/thing";

/** The body of a call of each endpoint with this content. */
const bodies = {
  chat: (model: string, content: unknown) => ({
    model,
    max_tokens: cap,
    stream: true,
    ...(model.startsWith("claude") ? {} : { stream_options: { include_usage: true } }),
    messages: [{ role: "user", content }],
  }),
  responses: (model: string, content: unknown) => ({
    model,
    max_output_tokens: cap,
    stream: true,
    input: [{ role: "user", content }],
  }),
  generate: (_model: string, part: unknown) => ({
    contents: [{ role: "user", parts: [typeof part === "string" ? { text: part } : part] }],
    generationConfig: { maxOutputTokens: cap },
  }),
} as const;
const paths = {
  chat: () => "/v1/chat/completions",
  messages: () => "/v1/messages",
  responses: () => "/v1/responses",
  generate: (model: string) => `/v1beta/models/${model}:generateContent`,
} as const;
type Endpoint = keyof typeof paths;

interface Row {
  readonly endpoint: Endpoint;
  readonly model: Upstream;
  readonly by: "native" | "translated";
  readonly input: string;
  readonly content: unknown;
  /** Tokens that the upstream counts. */
  readonly tokens: number;
}

const row = (
  endpoint: Endpoint,
  model: Upstream,
  by: Row["by"],
  input: string,
  content: unknown,
  tokens: number,
): Row => ({
  ...{ endpoint, model, by, input, content, tokens },
});

const picture = (endpoint: Endpoint): unknown =>
  endpoint === "messages"
    ? [{ type: "image", source: { type: "url", url } }]
    : endpoint === "responses"
      ? [{ type: "input_image", image_url: url }]
      : [{ type: "image_url", image_url: { url } }];
const document = [{ type: "document", source: { type: "url", url } }];
const file = [{ type: "input_file", file_url: url }];
/** An upstream in a private network fetches nothing for callers, so these calls only reach the hold. */
const addressed: readonly Row[] = [
  row("chat", "chat", "native", "a picture by address", picture("chat"), 4_000),
  row("chat", "claude", "translated", "a picture by address", picture("chat"), 4_000),
  row("messages", "claude", "native", "a picture by address", picture("messages"), 4_000),
  row("messages", "claude", "native", "a document by address", document, 19_000),
  row("responses", "openai", "native", "a picture by address", picture("responses"), 4_000),
  row("responses", "openai", "native", "a file by address", file, 19_000),
];
const bodyOf = (endpoint: Endpoint, model: string, content: unknown): object =>
  endpoint === "messages" ? bodies.chat(model, content) : bodies[endpoint](model, content);

async function spentUsd(): Promise<number> {
  await until(() => gateway.gateway.outstanding() === 0);
  return (await gateway.entries()).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;
}

describe("holds content at a URL by its kind", () => {
  for (const row of addressed) {
    const { endpoint, model, by, input, content, tokens } = row;
    test(`${endpoint} at ${model}, ${by}: ${input}`, async () => {
      const status = async () =>
        (await gateway.post(paths[endpoint](model), bodyOf(endpoint, model, content), { headers })).status;
      const most = tokens < 5_000 ? 0.041 : 0.2;
      await start(most - 0.002);
      expect(await status()).toBe(402);
      await gateway.stop();
      await start(most + 0.005);
      expect(await status()).not.toBe(402);
    });
  }
});

describe("holds input that cannot be seen by what is known", () => {
  test("twenty simultaneous continuations of a stored response exceed a budget for two by at most one call", async () => {
    await start(0.5);
    const ask = { model: "openai", input: "Go on.", max_output_tokens: cap };
    const script = { prompt_tokens: 15_000, tokens: 5, latency_ms: 100 };
    const { id } = (await (await gateway.post("/v1/responses", ask, { script })).json()) as { id: string };
    const goOn = async () =>
      (await gateway.post("/v1/responses", { ...ask, previous_response_id: id }, { script })).status;
    const statuses = await Promise.all(Array.from({ length: 20 }, goOn));
    expect(statuses.toSorted()).toEqual([200, 200, ...Array.from({ length: 18 }, () => 429)]);
    expect(await spentUsd()).toBeLessThanOrEqual(0.5);
    // Nothing is held any more, and the rest does not pay for a third.
    expect(await goOn()).toBe(402);
  });

  test("a conversation, a stored prompt and a cache fill the model's context window, or a large default if it is unknown", async () => {
    const statusOf = async (path: string, body: object) =>
      (await gateway.post(path, body, { script: { tokens: 1 } })).status;
    const ask = { model: "openai", input: "Go on.", max_output_tokens: cap };
    const cached = { ...bodies.generate("gem", "Go on."), cachedContent: "cachedContents/1" };
    for (const usd of [0.19, 0.25]) {
      await start(usd);
      const expected = usd < 0.2 ? 402 : 200;
      expect(await statusOf("/v1/responses", { ...ask, conversation: "conv_1" })).toBe(expected);
      expect(await statusOf("/v1/responses", { ...ask, prompt: { id: "pmpt_1" } })).toBe(expected);
      expect(await statusOf(paths.generate("gem"), cached)).toBe(expected);
      await gateway.stop();
    }
    await start(9, null);
    expect(await statusOf("/v1/responses", { ...ask, conversation: "conv_1" })).toBe(402);
  });

  test("holds images of hosted tools, and searches with their results", async () => {
    await start(0.3);
    const ask = { model: "openai", input: "A cat.", max_output_tokens: cap };
    const draws = { ...ask, tools: [{ type: "image_generation" }] };
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    const image_gen = {
      input_tokens: 10,
      output_tokens: 6_200,
      total_tokens: 6_210,
      output_tokens_details: { image_tokens: 6_200, text_tokens: 0 },
    };
    const reply = JSON.stringify({
      ...{ id: "resp_1", object: "response", status: "completed", model: "upstream-openai", usage },
      output: [{ type: "image_generation_call", id: "ig_1", status: "completed", result: "QUJD" }],
      tool_usage: { image_gen },
    });
    const raw_reply = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${reply.length}\r\nconnection: close\r\n\r\n${reply}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        gateway.post("/v1/responses", draws, { script: { raw_reply, latency_ms: 100 } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const spent = await spentUsd();
    expect(spent).toBeGreaterThan(0.24);
    expect(spent).toBeLessThanOrEqual(0.3);
    await gateway.stop();

    for (const [tool, most] of [
      [{ type: "web_search_20250305", name: "web_search", max_uses: 1 }, 0.09],
      [{ type: "web_fetch_20250910", name: "web_fetch", max_uses: 1 }, 0.11],
      [{ type: "mcp_toolset", mcp_server_name: "x" }, 0.21],
    ] as const) {
      const body = { ...bodies.chat("claude", "Look."), tools: [tool] };
      const status = async () => (await gateway.post("/v1/messages", body, { headers, script: { tokens: 1 } })).status;
      await start(most - 0.04);
      expect([tool.type, await status()]).toEqual([tool.type, 402]);
      await gateway.stop();
      await start(most + 0.01);
      expect([tool.type, await status()]).toEqual([tool.type, 200]);
      if (tool.type !== "mcp_toolset") await gateway.stop();
    }
  });
});

test.each([
  ["native", "/v1beta/models/gem:generateContent"],
  ["translated", "/v1beta/models/chat:generateContent"],
  ["passed through", "/v1/providers/gem/models/upstream-gem:generateContent"],
])("holds each tool that Google runs for Gemini, %s", async (_way, path) => {
  await start(0.17);
  const ask = bodies.generate("gem", "Look.");
  const status = async (tools: string) =>
    (await gateway.post(path, `${JSON.stringify(ask).slice(0, -1)},"tools":${tools}}`)).status;
  for (const tool of [
    ...[
      "googleSearch",
      "googleSearchRetrieval",
      "enterpriseWebSearch",
      "exaAiSearch",
      "parallelAiSearch",
      "fileSearch",
    ],
    ...["retrieval", "urlContext", "codeExecution", "google_search", "enterprise_web_search", "file_search"],
    ...["url_context", "code_execution", "exaAiSea\\u0072ch", "mcpServers"],
  ]) {
    expect([tool, await status(`[{"${tool}":{}}]`)]).toEqual([tool, 402]);
  }
  expect(
    await status('[{"retrieval":{"externalApi":{"endpoint":"https://example.com","apiSpec":"SIMPLE_SEARCH"}}}]'),
  ).toBe(402);
  // Every member of a tool object counts, not only the first.
  expect(await status('[{"functionDeclarations":[{"name":"f"}],"googleMaps":{},"urlContext":{}}]')).toBe(402);
  expect(await status('[{"functionDeclarations":[{"name":"retrieval"}]}]')).toBe(200);
});

test("text with one token per byte costs at most 3.2 times its hold", async () => {
  await start(0.9, 1_000_000);
  // 40,000 bytes are held at 12,500 tokens: 0.125 USD each.
  const dense = bodies.chat("chat", "x".repeat(40_000));
  const script = { prompt_tokens: 40_000, tokens: 1, latency_ms: 200 };
  const answers = await Promise.all(Array.from({ length: 12 }, () => gateway.chat(dense, { script })));
  await Promise.all(answers.map((answer) => answer.text()));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(4);
  expect(await spentUsd()).toBeLessThanOrEqual(0.9 * 3.3);
});
