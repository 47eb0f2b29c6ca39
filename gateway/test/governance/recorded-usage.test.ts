import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { noUsage, type Usage } from "#core/index.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/** USD per million tokens, and per thousand searches. */
const price = {
  ...{ input: 2, cache_read: 0.2, output: 8, audio_input: 5, cache_read_audio: 1, separate_reasoning: 3 },
  ...{ web_search: 5, map_search: 14, long_context: { above: 200_000, input: 4, output: 12 } },
};

/** Model names by the account that answers. */
const accounts = {
  openai: { kind: "openai" },
  xai: { kind: "xai", settings: { endpoints: ["chat"] } },
  mistral: { kind: "mistral" },
  google: { kind: "gemini", settings: { endpoints: ["chat"] } },
  gemini: { kind: "gemini", settings: { endpoints: ["generate"] } },
  claude: { kind: "anthropic" },
  other: { kind: "openai-compatible" },
  beside: { kind: "openai-compatible", settings: { cache_usage: "beside" } },
} as const;
type Account = keyof typeof accounts;

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => Object.entries(accounts).map(([id, more]) => upstream(id, simulator, more)),
    models: Object.keys(accounts).map((id) => ({ name: id, deployments: [{ provider: id }], price })),
  });
});
afterAll(() => gateway.stop());

const answered = (type: string, body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
const ask = { messages: [{ role: "user", content: "x" }] };

/** The entries of one answer, the attempt's own first. */
async function entriesOf(path: string, body: object, reply: string) {
  const before = (await gateway.entries()).length;
  const response = await gateway.post(path, body, {
    script: { raw_reply: reply },
    headers: { "anthropic-version": "2023-06-01" },
  });
  expect(response.status).toBe(200);
  await response.text();
  const all = await gateway.entries();
  return all.slice(0, all.length - before).sort((one, other) => one.retryIndex - other.retryIndex);
}

const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "x" } }];

async function usageOfChat(model: Account, usage: object) {
  const reply = answered(
    "application/json",
    JSON.stringify({ id: "c", object: "chat.completion", model, choices, usage }),
  );
  return (await entriesOf("/v1/chat/completions", { ...ask, model }, reply))[0];
}

/** In the formats of the vendors' documentation. */
const recorded: readonly (readonly [string, Account, object, Partial<Usage>])[] = [
  [
    "OpenAI includes cache and reasoning in its totals",
    "openai",
    {
      ...{ prompt_tokens: 2_006, completion_tokens: 300, total_tokens: 2_306 },
      prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 192, audio_tokens: 0, accepted_prediction_tokens: 0 },
    },
    { inputUncached: 86, cacheRead: 1_920, output: 300, reasoning: 192 },
  ],
  [
    "xAI counts reasoning outside completion_tokens",
    "xai",
    {
      ...{ prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, num_sources_used: 0 },
      prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
    },
    { inputUncached: 26, cacheRead: 6, output: 103, reasoning: 94 },
  ],
  [
    "Gemini's chat endpoint counts thoughts in total_tokens alone",
    "google",
    { prompt_tokens: 8, completion_tokens: 10, total_tokens: 518 },
    { inputUncached: 8, output: 510, reasoning: 500 },
  ],
  [
    "Mistral counts audio in total_tokens alone",
    "mistral",
    { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635, total_tokens: 3_264 },
    { inputUncached: 2_629, output: 635 },
  ],
  [
    "Perplexity's deep research charges citations as input, and reasoning separately",
    "other",
    {
      ...{ prompt_tokens: 33, completion_tokens: 7_163, total_tokens: 7_196 },
      ...{ citation_tokens: 20_016, num_search_queries: 18, reasoning_tokens: 73_203, search_context_size: "low" },
    },
    { inputUncached: 33 + 20_016, output: 7_163, separateReasoning: 73_203, webSearches: 18 },
  ],
  [
    "an account may count the cache outside the prompt, and reasoning inside the completion",
    "beside",
    {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 190 },
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    { inputUncached: 100, cacheRead: 40, output: 50, reasoning: 30 },
  ],
  [
    "an unexplained part of the total counts as output and is reported",
    "other",
    {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 190 },
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    { inputUncached: 60, cacheRead: 40, output: 90, reasoning: 30, unexplained: 40 },
  ],
  [
    "a total smaller than its parts reduces nothing and is reported",
    "xai",
    {
      ...{ prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
    { inputUncached: 10, output: 25, reasoning: 5, unexplained: 5 },
  ],
];

describe("usage in a recorded chat answer", () => {
  test.each(recorded)("%s", async (_, model, usage, classes) => {
    const entry = await usageOfChat(model, usage);
    expect(entry).toMatchObject({ usage: { ...noUsage, ...classes }, usageSource: "upstream" });
  });

  test("separate reasoning is charged at its own price", async () => {
    const entry = await usageOfChat("other", {
      prompt_tokens: 0,
      completion_tokens: 0,
      citation_tokens: 1_000,
      reasoning_tokens: 10_000,
    });
    expect(entry?.costNanoUsd).toBe(1_000 * 2_000 + 10_000 * 3_000);
  });

  test("a stream follows the same convention", async () => {
    const usage = {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      completion_tokens_details: { reasoning_tokens: 94 },
    };
    const chunks = [
      { object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }] },
      { object: "chat.completion.chunk", choices: [], usage },
    ];
    const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"]
      .map((data) => `data: ${data}\n\n`)
      .join("");
    const [entry] = await entriesOf(
      "/v1/chat/completions",
      { ...ask, model: "xai", stream: true },
      answered("text/event-stream", events),
    );
    expect(entry?.usage).toEqual({ ...noUsage, inputUncached: 32, output: 103, reasoning: 94 });
  });

  test("a metric counts unexplained tokens", async () => {
    await usageOfChat("openai", { prompt_tokens: 1, completion_tokens: 1, total_tokens: 9 });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('sluice_tokens_total{model="openai",class="unexplained"} 7');
  });
});

describe("usage in a recorded Gemini answer", () => {
  const generated = (more: object, usageMetadata: object) => {
    const candidates = [
      { index: 0, content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP", ...more },
    ];
    return { candidates, usageMetadata, modelVersion: "gemini-2.5-flash", responseId: "r" };
  };
  const contents = [{ role: "user", parts: [{ text: "x" }] }];
  const path = "/v1beta/models/gemini:generateContent";

  test("cached audio is a separate class with a separate price", async () => {
    const usage = {
      ...{ promptTokenCount: 1_000, cachedContentTokenCount: 800, candidatesTokenCount: 10, totalTokenCount: 1_010 },
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 300 },
        { modality: "AUDIO", tokenCount: 700 },
      ],
      cacheTokensDetails: [
        { modality: "TEXT", tokenCount: 200 },
        { modality: "AUDIO", tokenCount: 600 },
      ],
    };
    const [entry] = await entriesOf(
      path,
      { contents },
      answered("application/json", JSON.stringify(generated({}, usage))),
    );
    const classes = { inputUncached: 100, audioInput: 100, cacheRead: 200, cacheReadAudio: 600, output: 10 };
    expect(entry?.usage).toEqual({ ...noUsage, ...classes });
    expect(entry?.costNanoUsd).toBe(100 * 2_000 + 100 * 5_000 + 200 * 200 + 600 * 1_000 + 10 * 8_000);
  });

  const grounded = {
    groundingMetadata: {
      groundingChunks: [{ maps: { uri: "https://maps.google.com/?cid=1", title: "A", placeId: "places/1" } }],
      webSearchQueries: ["a", "b"],
    },
  };
  const usage = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };

  test("an answer with places counts a maps search in addition to its web searches", async () => {
    const [entry] = await entriesOf(
      path,
      { contents },
      answered("application/json", JSON.stringify(generated(grounded, usage))),
    );
    expect(entry?.usage).toEqual({ ...noUsage, inputUncached: 5, output: 3, webSearches: 1, mapSearches: 1 });
    expect(entry?.costNanoUsd).toBe(5 * 2_000 + 3 * 8_000 + 5_000_000 + 14_000_000);
  });

  test("counts a search once in a stream", async () => {
    const one = {
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "x" }] } }],
      modelVersion: "gemini-3-pro",
    };
    const events = [one, generated(grounded, usage), generated(grounded, usage)];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const [entry] = await entriesOf(
      "/v1beta/models/gemini:streamGenerateContent?alt=sse",
      { contents },
      answered("text/event-stream", text),
    );
    expect(entry?.usage).toMatchObject({ webSearches: 1, mapSearches: 1, output: 3 });
  });
});

describe("usage in a recorded Claude answer with several iterations", () => {
  const answer = (usage: object) =>
    answered(
      "application/json",
      JSON.stringify({
        ...{ id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn" },
        ...{ content: [{ type: "text", text: "x" }], usage },
      }),
    );
  const body = { ...ask, model: "claude", max_tokens: 64 };

  test("a compaction is a separate entry, priced by its own length", async () => {
    const usage = {
      ...{ input_tokens: 150_000, output_tokens: 500 },
      iterations: [
        { type: "compaction", input_tokens: 150_000, output_tokens: 3_500 },
        { type: "message", input_tokens: 150_000, output_tokens: 500 },
      ],
    };
    const [own, compaction, ...more] = await entriesOf("/v1/messages", body, answer(usage));
    expect(more).toEqual([]);
    expect(own).toMatchObject({
      usage: { inputUncached: 150_000, output: 500 },
      costNanoUsd: 150_000 * 2_000 + 500 * 8_000,
    });
    expect(compaction).toMatchObject({
      ...{ model: "claude", requestId: own?.requestId ?? "", calls: 0 },
      ...{ usage: { inputUncached: 150_000, output: 3_500 }, costNanoUsd: 150_000 * 2_000 + 3_500 * 8_000 },
    });
  });

  test("rounds of server tools, which the top level sums, are priced one by one", async () => {
    const usage = {
      ...{ input_tokens: 310_000, output_tokens: 30, cache_read_input_tokens: 7 },
      iterations: [
        { type: "message", input_tokens: 150_000, output_tokens: 10, cache_read_input_tokens: 7 },
        { type: "message", input_tokens: 160_000, output_tokens: 20 },
      ],
    };
    const entries = await entriesOf("/v1/messages", body, answer(usage));
    expect(
      entries.map(({ usage: { inputUncached, cacheRead, output } }) => ({ inputUncached, cacheRead, output })),
    ).toEqual([
      { inputUncached: 160_000, cacheRead: 0, output: 20 },
      { inputUncached: 150_000, cacheRead: 7, output: 10 },
    ]);
    expect(entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(310_000 * 2_000 + 30 * 8_000 + 7 * 200);
  });

  test("includes usage that the top level reports beyond its iterations", async () => {
    const iterations = Array.from({ length: 100 }, () => ({ type: "message", input_tokens: 2, output_tokens: 1 }));
    const entries = await entriesOf(
      "/v1/messages",
      body,
      answer({ input_tokens: 250, output_tokens: 100, iterations }),
    );
    expect(entries.length).toBe(33);
    expect(entries[0]?.usage).toMatchObject({ inputUncached: 250 - 64, output: 100 - 32 });
  });
});
