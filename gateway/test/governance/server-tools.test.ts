import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/** USD per thousand. */
const tools = { web_search: 10, file_search: 2.5, code_session: 30 };
const poor = "sk-poor-0123456789abcdefghij";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai" }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("google", simulator, { kind: "gemini", settings: { endpoints: ["generate"] } }),
    ],
    models: [
      { name: "gpt", deployments: [{ provider: "openai" }], price: { input: 1, output: 10, ...tools } },
      { name: "claude", deployments: [{ provider: "claude" }], price: { input: 3, output: 15, ...tools } },
      {
        name: "adviser",
        deployments: [{ provider: "claude", upstream_model: "claude-opus" }],
        price: { input: 5, output: 25 },
      },
      {
        name: "painter",
        deployments: [{ provider: "openai", upstream_model: "gpt-image-1.5" }],
        price: { input: 5, image_input: 8, output: 32, cache_read: 1.25 },
      },
      {
        name: "gem",
        deployments: [{ provider: "google" }],
        price: { input: 1, output: 10, ...tools, map_search: 100 },
      },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "poor", secret: poor, budget: { usd: 0.09, period: "total" } },
    ],
  });
});
afterAll(() => gateway.stop());

const version = { "anthropic-version": "2023-06-01" };
const answered = (type: string, body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
const whole = (body: unknown): string => answered("application/json", JSON.stringify(body));
const stream = (events: readonly object[]): string =>
  answered(
    "text/event-stream",
    events.map((event) => `event: ${(event as { type?: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );

async function entryAfter(path: string, body: object, reply: string) {
  const script = { raw_reply: reply };
  const response = await gateway.post(path, body, { headers: version, script });
  expect(response.status).toBe(200);
  await response.text();
  return gateway.entries();
}

const usage = { input_tokens: 100, output_tokens: 10 };
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [{ type: "text", text: "x" }],
};
const ask = { model: "claude", max_tokens: 64, messages: [{ role: "user", content: "x" }] };

test("Anthropic's searches are a separate class of the entry, whole and streamed, and are charged", async () => {
  const withTools = { ...usage, server_tool_use: { web_search_requests: 3, web_fetch_requests: 7 } };
  const [one] = await entryAfter("/v1/messages", ask, whole({ ...message, stop_reason: "end_turn", usage: withTools }));
  expect(one).toMatchObject({ usage: { webSearches: 3, output: 10 }, usageSource: "upstream" });
  expect(one?.costNanoUsd).toBe(100 * 3_000 + 10 * 15_000 + 3 * 10_000_000);
  const events = [
    { type: "message_start", message: { ...message, content: [], usage: { input_tokens: 100, output_tokens: 1 } } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 10, server_tool_use: { web_search_requests: 2 } },
    },
    { type: "message_stop" },
  ];
  const [streamed] = await entryAfter("/v1/messages", { ...ask, stream: true }, stream(events));
  expect(streamed).toMatchObject({ usage: { webSearches: 2, output: 10 }, usageSource: "upstream" });
});

test("an adviser's turns are a separate entry at the adviser's price, and not a second request", async () => {
  const iterations = [
    { type: "message", input_tokens: 100, output_tokens: 10 },
    {
      type: "advisor_message",
      model: "claude-opus-20260205",
      input_tokens: 823,
      output_tokens: 1_612,
      cache_read_input_tokens: 5,
    },
  ];
  const reply = whole({ ...message, stop_reason: "end_turn", usage: { ...usage, iterations } });
  const [adviser, own] = (await entryAfter("/v1/messages", ask, reply))
    .slice(0, 2)
    .sort((a, b) => b.retryIndex - a.retryIndex);
  expect(own).toMatchObject({ model: "claude", retryIndex: 0, usage: { inputUncached: 100, output: 10 } });
  expect(adviser).toMatchObject({
    model: "adviser",
    upstreamModel: "claude-opus-20260205",
    requestId: own?.requestId ?? "",
    retryIndex: 1,
    usage: { inputUncached: 823, cacheRead: 5, output: 1_612 },
    costNanoUsd: 823 * 5_000 + 5 * 5_000 + 1_612 * 25_000,
  });
  const { data } = (await (await gateway.get("/v1/usage")).json()) as { data: { model: string; requests: number }[] };
  expect(data.find(({ model }) => model === "adviser")?.requests).toBe(0);
});

const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } },
    {
      type: "web_search_call",
      id: "ws_2",
      status: "completed",
      action: { type: "open_page", url: "https://x.example" },
    },
    { type: "file_search_call", id: "fs_1", status: "completed", queries: ["a"] },
    { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1", code: "1" },
    { type: "code_interpreter_call", id: "ci_2", container_id: "cntr_1", code: "2" },
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "a web_search_call is no call here" }],
    },
  ],
  usage,
};

test("counts OpenAI's tools from the output, because its usage omits them", async () => {
  const used = { webSearches: 1, fileSearches: 1, codeSessions: 1 };
  const body = { model: "gpt", input: "x" };
  const [one] = await entryAfter("/v1/responses", body, whole(response));
  expect(one).toMatchObject({ usage: { ...used, output: 10 } });
  expect(one?.costNanoUsd).toBe(100 * 1_000 + 10 * 10_000 + 10_000_000 + 2_500_000 + 30_000_000);
  const ends = [{ type: "response.completed", response }];
  const items = response.output.map((item) => ({ type: "response.output_item.done", item }));
  const bare = [{ type: "response.completed", response: { ...response, output: [] } }];
  for (const events of [ends, [...items, ...bare], [...items, ...ends]]) {
    const [streamed] = await entryAfter("/v1/responses", { ...body, stream: true }, stream(events));
    expect(streamed).toMatchObject({ usage: used });
  }
  const withTools = { ...response, output: [], tool_usage: { web_search: { num_requests: 4 } } };
  expect((await entryAfter("/v1/responses", body, whole(withTools)))[0]).toMatchObject({ usage: { webSearches: 4 } });
});

test("images generated by OpenAI's tool are a separate entry at the price of the image model", async () => {
  const image_gen = {
    input_tokens: 300,
    input_tokens_details: { text_tokens: 100, image_tokens: 200 },
    output_tokens: 4_160,
    output_tokens_details: { text_tokens: 0, image_tokens: 4_160 },
  };
  const drawn = {
    ...response,
    tools: [{ type: "image_generation", model: "gpt-image-1.5" }],
    output: [{ type: "image_generation_call", id: "ig_1", status: "completed", result: "QUJD" }],
    tool_usage: { image_gen },
  };
  const body = { model: "gpt", input: "x", tools: [{ type: "image_generation" }] };
  const events = stream([{ type: "response.completed", response: drawn }]);
  for (const [request, reply] of [
    [body, whole(drawn)],
    [{ ...body, stream: true }, events],
  ] as const) {
    const [painter, own] = (await entryAfter("/v1/responses", request, reply))
      .slice(0, 2)
      .sort((a, b) => b.retryIndex - a.retryIndex);
    expect(own).toMatchObject({ model: "gpt", usage: { inputUncached: 100, output: 10, imageOutput: 0 } });
    expect(own?.costNanoUsd).toBe(100 * 1_000 + 10 * 10_000);
    expect(painter).toMatchObject({
      model: "painter",
      upstreamModel: "gpt-image-1.5",
      requestId: own?.requestId ?? "",
      usage: { inputUncached: 100, imageInput: 200, imageOutput: 4_160 },
      costNanoUsd: 100 * 5_000 + 200 * 8_000 + 4_160 * 32_000,
    });
  }
});

test("counts Gemini's queries as searches, whole and streamed", async () => {
  const candidate = {
    content: { role: "model", parts: [{ text: "x" }] },
    finishReason: "STOP",
    groundingMetadata: { webSearchQueries: ["a", "b"] },
  };
  const answer = { candidates: [candidate], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6 } };
  const contents = [{ parts: [{ text: "x" }] }];
  const first = { candidates: [{ content: candidate.content }], usageMetadata: { promptTokenCount: 5 } };
  const [one] = await entryAfter("/v1beta/models/gem:generateContent", { contents }, whole(answer));
  expect(one).toMatchObject({ usage: { webSearches: 2, output: 6 } });
  const path = "/v1beta/models/gem:streamGenerateContent?alt=sse";
  const events = `data: ${JSON.stringify(first)}\n\ndata: ${JSON.stringify(answer)}\n\n`;
  const [streamed] = await entryAfter(path, { contents }, answered("text/event-stream", events));
  expect(streamed).toMatchObject({ usage: { webSearches: 2, output: 6 } });
  const many = { ...answer, modelVersion: "gemini-2.5-flash" };
  const [older] = await entryAfter("/v1beta/models/gem:generateContent", { contents }, whole(many));
  expect(older).toMatchObject({ usage: { webSearches: 1 } });
});

test("counts searches that other chat vendors report, and at least one if a search was requested", async () => {
  const chat = (more: object) => ({
    id: "c",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 6, ...more },
  });
  const body = { model: "gpt", messages: ask.messages };
  const reports = [
    [{ num_sources_used: 3 }, 3],
    [{ server_tool_use: { web_search_requests: 2 } }, 2],
    [{ plugins: { search: { count: 1 } } }, 1],
    [{ tool_usage: { web_search: 4 } }, 4],
    [{}, 0],
  ] as const;
  for (const [more, webSearches] of reports) {
    expect((await entryAfter("/v1/chat/completions", body, whole(chat(more))))[0]).toMatchObject({
      usage: { webSearches },
    });
  }
  const searching = { ...body, web_search_options: {} };
  expect((await entryAfter("/v1/chat/completions", searching, whole(chat({}))))[0]).toMatchObject({
    usage: { webSearches: 1 },
  });
});

test("holds the possible cost of tools against the budget before the call is sent", async () => {
  const held = async (path: string, body: object) => gateway.post(path, body, { key: poor, headers: version });
  const search = { type: "web_search_20250305", name: "web_search" };
  // Ten searches may cost 0.1 USD, but only 0.09 are left.
  const refused = [
    await held("/v1/messages", { ...ask, tools: [search] }),
    await held("/v1/responses", { model: "gpt", input: "x", max_output_tokens: 10, tools: [{ type: "web_search" }] }),
    await held("/v1/chat/completions", {
      model: "gpt",
      messages: ask.messages,
      max_tokens: 10,
      web_search_options: {},
    }),
    await held("/v1beta/models/gem:generateContent", {
      contents: [{ parts: [{ text: "x" }] }],
      generationConfig: { maxOutputTokens: 10 },
      tools: [{ google_search: {} }],
    }),
    // One answer grounded on maps.
    await held("/v1beta/models/gem:generateContent", {
      contents: [{ parts: [{ text: "x" }] }],
      generationConfig: { maxOutputTokens: 10 },
      tools: [{ googleMaps: {} }],
    }),
  ];
  for (const answer of refused) expect(answer.status).toBe(402);
  expect((await held("/v1/messages", { ...ask, tools: [{ ...search, max_uses: 2 }] })).status).toBe(200);
  const own = {
    name: "file_search",
    description: "code_search",
    input_schema: { type: "object", properties: { model: { type: "string" } } },
  };
  expect((await held("/v1/messages", { ...ask, tools: [own] })).status).toBe(200);
});
