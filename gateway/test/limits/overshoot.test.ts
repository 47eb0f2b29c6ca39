import { afterEach, describe, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import { until } from "../../../test/until.ts";
import { openSocket } from "../endpoints/responses-socket/socket-ground.ts";
import { aliceKey, type StartedGateway, scriptHeader, startGateway, upstream } from "../started-gateway.ts";

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

const calls = 12;
const headers = { "anthropic-version": "2023-06-01" };
const cap = 10;
/** 64 KB: 16,000 tokens, held with a quarter more. */
const text = "The quick brown fox jumps over the lazy dog, and then some more. ".repeat(985);
const url = "https://example.com/thing";

/** The body of a call of each endpoint, with what it is asked to read. */
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

/** How the same call goes at the vendor's own API. */
const passed: Readonly<Record<Endpoint, (model: Upstream) => string>> = {
  chat: (name) => `/v1/providers/${name}/chat/completions`,
  messages: (name) => `/v1/providers/${name}/v1/messages`,
  responses: (name) => `/v1/providers/${name}/responses`,
  generate: (name) => `/v1/providers/${name}/models/upstream-${name}:generateContent`,
};

interface Row {
  readonly endpoint: Endpoint;
  readonly model: Upstream;
  readonly by: "native" | "translated" | "passed" | "socket";
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

const inBody: readonly Row[] = (
  [
    ["chat", "chat", "native"],
    ["chat", "claude", "translated"],
    ["chat", "chat", "passed"],
    ["messages", "claude", "native"],
    ["messages", "gem", "translated"],
    ["messages", "claude", "passed"],
    ["responses", "openai", "native"],
    ["responses", "chat", "translated"],
    ["responses", "openai", "passed"],
    ["responses", "openai", "socket"],
    ["responses", "claude", "socket"],
    ["generate", "gem", "native"],
    ["generate", "chat", "translated"],
    ["generate", "gem", "passed"],
  ] as const
).map(([endpoint, model, by]) => row(endpoint, model, by, "text in the body", text, 16_000));

const picture = (endpoint: Endpoint): unknown =>
  endpoint === "messages"
    ? [{ type: "image", source: { type: "url", url } }]
    : endpoint === "responses"
      ? [{ type: "input_image", image_url: url }]
      : [{ type: "image_url", image_url: { url } }];
const document = [{ type: "document", source: { type: "url", url } }];
const file = [{ type: "input_file", file_url: url }];
/** An upstream in a private network fetches nothing for callers, so these come no further than what is held for them. */
const addressed: readonly Row[] = [
  row("chat", "chat", "native", "a picture by address", picture("chat"), 4_000),
  row("chat", "claude", "translated", "a picture by address", picture("chat"), 4_000),
  row("messages", "claude", "native", "a picture by address", picture("messages"), 4_000),
  row("messages", "claude", "native", "a document by address", document, 19_000),
  row("responses", "openai", "native", "a picture by address", picture("responses"), 4_000),
  row("responses", "openai", "native", "a file by address", file, 19_000),
];
const elsewhere: readonly Row[] = [
  row("chat", "chat", "passed", "a picture by address", picture("chat"), 4_000),
  row("chat", "chat", "native", "a file by id", [{ type: "file", file: { file_id: "file-1" } }], 19_000),
  row("messages", "claude", "passed", "a picture by address", picture("messages"), 4_000),
  row("messages", "claude", "passed", "a document by address", document, 19_000),
  row("responses", "openai", "passed", "a picture by address", picture("responses"), 4_000),
  row("responses", "openai", "passed", "a file by address", file, 19_000),
  row(
    "messages",
    "claude",
    "native",
    "a file by id",
    [{ type: "document", source: { type: "file", file_id: "file_1" } }],
    19_000,
  ),
  row("responses", "openai", "native", "a file by id", [{ type: "input_file", file_id: "file-1" }], 19_000),
  row("responses", "openai", "native", "a picture by id", [{ type: "input_image", file_id: "file-1" }], 4_000),
  row("responses", "openai", "passed", "a file by id", [{ type: "input_file", file_id: "file-1" }], 19_000),
  row(
    "generate",
    "gem",
    "native",
    "a film by address",
    { fileData: { fileUri: "https://youtu.be/x", mimeType: "video/mp4" } },
    19_000,
  ),
  row(
    "generate",
    "gem",
    "native",
    "a file of the vendor's",
    { fileData: { fileUri: "files/1", mimeType: "video/mp4" } },
    19_000,
  ),
  row("generate", "gem", "passed", "a film by address", { fileData: { fileUri: "https://youtu.be/x" } }, 19_000),
];

function bodyOf({ endpoint, model, by, content }: Row): object {
  const name = by === "passed" && model !== "claude" ? `upstream-${model}` : by === "passed" ? "claude-sim-4-5" : model;
  return endpoint === "messages" ? bodies.chat(name, content) : bodies[endpoint](name, content);
}

/** Sends so many at once. Gives how many were served. */
async function atOnce(asked: Row, script: Script, more: object = {}): Promise<number> {
  const body = { ...bodyOf(asked), ...more };
  if (asked.by === "socket") {
    const { stream: _stream, ...frame } = body as { stream?: boolean };
    const sockets = await Promise.all(
      Array.from({ length: calls }, () => openSocket(gateway, { headers: { [scriptHeader]: JSON.stringify(script) } })),
    );
    const answers = await Promise.all(sockets.map((socket) => socket.ask({ store: false, ...frame })));
    for (const socket of sockets) socket.close();
    return answers.filter((frames) => /completed|incomplete/.test(frames.at(-1)?.type ?? "")).length;
  }
  const path = asked.by === "passed" ? passed[asked.endpoint](asked.model) : paths[asked.endpoint](asked.model);
  const answers = await Promise.all(Array.from({ length: calls }, () => gateway.post(path, body, { script, headers })));
  await Promise.all(answers.map((answer) => answer.text()));
  expect(answers.map(({ status }) => status).filter((status) => ![200, 402, 429].includes(status))).toEqual([]);
  return answers.filter(({ status }) => status === 200).length;
}

async function spentUsd(): Promise<number> {
  await until(() => gateway.gateway.outstanding() === 0);
  return (await gateway.entries()).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;
}

describe("a dozen calls at once on a budget for one spend no more than it", () => {
  for (const asked of [...inBody, ...elsewhere]) {
    const { endpoint, model, by, input, tokens } = asked;
    test(`${endpoint} at ${model}, ${by}: ${input}`, async () => {
      // Enough for what one is held at, too little for two.
      const usd = tokens < 5_000 ? 0.06 : 0.25;
      await start(usd);
      const served = await atOnce(asked, { prompt_tokens: tokens, tokens: 5, latency_ms: 200 });
      expect(served).toBe(1);
      const spent = await spentUsd();
      // A translated call does not carry the script: the upstream counts the body itself.
      expect(spent).toBeGreaterThan((by === "translated" || model === "claude" ? 0.7 : 0.95) * tokens * 1e-5);
      expect(spent).toBeLessThanOrEqual(usd);
    });
  }
});

describe("what stands at an address is held by its kind", () => {
  for (const asked of addressed) {
    const { endpoint, model, by, input, tokens } = asked;
    test(`${endpoint} at ${model}, ${by}: ${input}`, async () => {
      const status = async () => (await gateway.post(paths[endpoint](model), bodyOf(asked), { headers })).status;
      const most = tokens < 5_000 ? 0.041 : 0.2;
      await start(most - 0.002);
      expect(await status()).toBe(402);
      await gateway.stop();
      await start(most + 0.005);
      expect(await status()).not.toBe(402);
    });
  }
});

describe("what cannot be seen in advance is held by what is known of it", () => {
  const kept = row("responses", "openai", "native", "a kept response", "Go on.", 15_000);

  test("a kept response brings what its own entry says: at once, over a WebSocket, and passed through", async () => {
    for (const by of ["native", "socket", "passed"] as const) {
      await start(0.36);
      const first = await gateway.post(
        "/v1/responses",
        { model: "openai", input: "Begin.", max_output_tokens: cap },
        {
          script: { prompt_tokens: 15_000, tokens: 5 },
        },
      );
      const { id } = (await first.json()) as { id: string };
      const more = by === "socket" ? { previous_response_id: id, store: true } : { previous_response_id: id };
      const served = await atOnce({ ...kept, by }, { prompt_tokens: 15_000, tokens: 5, latency_ms: 200 }, more);
      expect([by, served]).toEqual([by, 1]);
      expect(await spentUsd()).toBeLessThanOrEqual(0.36);
      if (by !== "passed") await gateway.stop();
    }
  });

  test("twenty continuations of a kept response on a budget for two end within one call of it", async () => {
    await start(0.5);
    const ask = { model: "openai", input: "Go on.", max_output_tokens: cap };
    const script = { prompt_tokens: 15_000, tokens: 5 };
    let { id } = (await (await gateway.post("/v1/responses", ask, { script })).json()) as { id: string };
    const statuses: number[] = [];
    for (let call = 0; call < 20; call++) {
      const answer = await gateway.post("/v1/responses", { ...ask, previous_response_id: id }, { script });
      statuses.push(answer.status);
      const body = (await answer.json()) as { id?: string };
      id = body.id ?? id;
    }
    expect(statuses.slice(0, 2)).toEqual([200, 200]);
    expect(new Set(statuses.slice(2))).toEqual(new Set([402]));
    expect(await spentUsd()).toBeLessThanOrEqual(0.5);
  });

  test("a thread that goes on brings what its last answer was made with", async () => {
    await start(0.34);
    const beta = { ...headers, "anthropic-beta": "message-threads-2026-08-12" };
    const script = { prompt_tokens: 15_000, tokens: 5, latency_ms: 200 };
    const turn = (thread: object) =>
      gateway.post(
        "/v1/messages",
        { ...bodies.chat("claude", "Go on."), stream: false, thread },
        { script, headers: beta },
      );
    const { id } = (await (await turn({ type: "create" })).json()) as { id: string };
    const answers = await Promise.all(
      Array.from({ length: calls }, () => turn({ type: "continue", previous_message_id: id })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await spentUsd()).toBeLessThanOrEqual(0.34);
  });

  test("a conversation, a stored prompt and a cache fill the model's context window, and one that nobody knows is taken to be large", async () => {
    const said = async (path: string, body: object) =>
      (await gateway.post(path, body, { script: { tokens: 1 } })).status;
    const ask = { model: "openai", input: "Go on.", max_output_tokens: cap };
    const cached = { ...bodies.generate("gem", "Go on."), cachedContent: "cachedContents/1" };
    for (const usd of [0.19, 0.25]) {
      await start(usd);
      const expected = usd < 0.2 ? 402 : 200;
      expect(await said("/v1/responses", { ...ask, conversation: "conv_1" })).toBe(expected);
      expect(await said("/v1/responses", { ...ask, prompt: { id: "pmpt_1" } })).toBe(expected);
      expect(await said(paths.generate("gem"), cached)).toBe(expected);
      await gateway.stop();
    }
    await start(9, null);
    expect(await said("/v1/responses", { ...ask, conversation: "conv_1" })).toBe(402);
  });

  test("pictures that a hosted tool draws, and searches with what they bring, are held", async () => {
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

describe("so it is where nothing but a prompt is read, or pictures are made", () => {
  const few = "A few words. ".repeat(400);
  const rows = [
    ["/v1/embeddings", "embedding", { input: few }, 1_300],
    ["/v1/responses/compact", "chat", { input: [{ role: "user", content: few }] }, 1_300],
    ["/v1/images/generations", "image", { prompt: "A cat.", n: 1 }, 10],
  ] as const;
  for (const [path, type, body, prompt_tokens] of rows) {
    test(path, async () => {
      const open = async (usd: number) => {
        gateway = await startGateway({
          providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
          models: [
            {
              ...{ name: "m", type, deployments: [{ provider: "main", upstream_model: "upstream-m" }] },
              price: { input: 10, output: 10, image_output: 10 },
              max_output_tokens: 2_000,
            },
          ],
          keys: [{ name: "alice", secret: aliceKey, budget: { usd, period: "total" } }],
        });
      };
      const send = () => gateway.post(path, { model: "m", ...body }, { script: { prompt_tokens, latency_ms: 200 } });
      await open(100);
      const first = await send();
      expect(first.status).toBe(200);
      await first.text();
      const [entry] = await gateway.entries();
      const { reservedNanoUsd = 0, costNanoUsd = 0 } = entry ?? {};
      expect(costNanoUsd).toBeGreaterThan(0);
      expect(reservedNanoUsd).toBeGreaterThanOrEqual(costNanoUsd);
      await gateway.stop();
      await open(reservedNanoUsd / 1e9);
      const answers = await Promise.all(Array.from({ length: calls }, send));
      await Promise.all(answers.map((answer) => answer.text()));
      expect(answers.some(({ status }) => status === 200)).toBe(true);
      expect(await spentUsd()).toBeLessThanOrEqual(reservedNanoUsd / 1e9);
    });
  }
});

test("text that has as many tokens as bytes costs at most 3.2 times what is held for it", async () => {
  await start(0.9, 1_000_000);
  // 40,000 bytes are held at 12,500 tokens: 0.125 USD each.
  const dense = row("chat", "chat", "native", "", "x".repeat(40_000), 40_000);
  const served = await atOnce(dense, { prompt_tokens: 40_000, tokens: 1, latency_ms: 200 });
  expect(served).toBeGreaterThan(4);
  expect(await spentUsd()).toBeLessThanOrEqual(0.9 * 3.3);
});
