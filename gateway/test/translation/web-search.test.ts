import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const completion = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "up",
  choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};
const answers = {
  "of-chat-search": completion,
  "of-chat": completion,
  "of-messages": {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "up",
    content: [{ type: "text", text: "x" }],
    stop_reason: "end_turn",
    usage: { ...usage, server_tool_use: { web_search_requests: 2 } },
  },
  "of-responses": {
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } },
      { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "search", query: "b" } },
      { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "x", annotations: [] }] },
    ],
    usage,
  },
  "of-gemini": {
    candidates: [
      {
        content: { parts: [{ text: "x" }] },
        finishReason: "STOP",
        groundingMetadata: { webSearchQueries: ["a", "b"] },
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  },
} as const;

const messages = [{ role: "user", content: "x" }];
const place = { city: "Graz", country: "AT" };
/** The search as each caller requests it, with only what every upstream supports. */
const callers: readonly (readonly [name: string, path: string, body: object])[] = [
  ["of-chat", paths.chat, { messages, web_search_options: {} }],
  [
    "of-messages",
    paths.messages,
    { messages, max_tokens: 64, tools: [{ type: "web_search_20250305", name: "web_search" }] },
  ],
  ["of-responses", paths.responses, { input: "x", tools: [{ type: "web_search" }] }],
  ["of-gemini", "", { contents: [{ role: "user", parts: [{ text: "x" }] }], tools: [{ google_search: {} }] }],
];
/** The request that each upstream receives for it. */
const upstreamFields = {
  "of-chat-search": { web_search_options: {} },
  "of-messages": { tools: [{ type: "web_search_20250305", name: "web_search" }] },
  "of-responses": { tools: [{ type: "web_search" }] },
  "of-gemini": { tools: [{ googleSearch: {} }] },
} as const;

const pathOf = (path: string, model: string): string => path || `/v1beta/models/${model}:generateContent`;

async function send(model: keyof typeof answers, path: string, body: object) {
  const { type: _type, ...request } = { type: "", model, ...body };
  const response = await gateway.call(pathOf(path, model), path === "" ? body : request, answers[model]);
  await response.text();
  const requestId = response.headers.get("x-request-id");
  const entry = (await gateway.entries()).find((one) => one.requestId === requestId);
  return { response, entry, sentBody: gateway.sent(), warnings: response.headers.get("x-sluice-warnings") };
}

describe.each(Object.keys(upstreamFields) as (keyof typeof upstreamFields)[])(
  "a web search with an upstream %s",
  (model) => {
    test.each(callers.filter(([name]) => !model.startsWith(name)))(
      "uses the vendor's own search for a caller %s",
      async (_, path, body) => {
        const result = await send(model, path, body);
        expect([result.response.status, result.warnings]).toEqual([
          200,
          model === "of-responses" ? result.warnings : null,
        ]);
        expect(result.sentBody).toMatchObject(upstreamFields[model] as never);
        // A search that the upstream does not count counts once.
        const searches = model === "of-chat-search" ? 1 : 2;
        expect(result.entry?.usage.webSearches).toBe(searches);
        expect(result.entry?.costNanoUsd).toBe(10 * 1_000 + 5 * 10_000 + searches * 10_000_000);
      },
    );
  },
);

test("drops the search with a warning and at no cost when the upstream has none", async () => {
  const [, , ofMessages] = callers[1] ?? [];
  const result = await send("of-chat", paths.messages, ofMessages ?? {});
  expect([result.response.status, result.warnings]).toEqual([200, expect.stringContaining("web_search")]);
  expect(result.sentBody).not.toHaveProperty("web_search_options");
  expect(result.entry?.usage.webSearches).toBe(0);
});

test("keeps functions and drops the search for Google, which does not combine them", async () => {
  const tools = [
    { type: "web_search", search_context_size: "high" },
    { type: "function", name: "search", parameters: { type: "object", properties: {} } },
  ];
  const result = await send("of-gemini", paths.responses, { input: "x", tools });
  expect(result.warnings).toContain("combine it with functions");
  expect(result.sentBody["tools"]).toMatchObject([{ functionDeclarations: [{ name: "search" }] }]);
});

test("translates location, number of uses and domains where both dialects have them, and warns otherwise", async () => {
  const anthropic = {
    type: "web_search_20250305",
    name: "web_search",
    max_uses: 3,
    allowed_domains: ["example.com"],
    user_location: { type: "approximate", ...place },
  };
  const request = { messages, max_tokens: 64, tools: [anthropic] };
  const openai = await send("of-responses", paths.messages, request);
  expect(openai.sentBody).toMatchObject({
    tools: [
      {
        type: "web_search",
        filters: { allowed_domains: ["example.com"] },
        user_location: { type: "approximate", ...place },
      },
    ],
    max_tool_calls: 3,
  });
  const google = await send("of-gemini", paths.messages, request);
  for (const lost of ["number of uses", "allowed domains", "location"]) expect(google.warnings).toContain(lost);
  const chat = {
    messages,
    web_search_options: { search_context_size: "low", user_location: { type: "approximate", approximate: place } },
  };
  const claude = await send("of-messages", paths.chat, chat);
  expect(claude.sentBody).toMatchObject({
    tools: [{ type: "web_search_20250305", user_location: { type: "approximate", ...place } }],
  });
  expect(claude.warnings).toContain("context size");
  const back = await send("of-chat-search", paths.responses, {
    input: "x",
    tools: [
      { type: "web_search_preview", search_context_size: "low", user_location: { type: "approximate", ...place } },
    ],
  });
  expect(back.sentBody).toMatchObject({ web_search_options: chat.web_search_options });
});
