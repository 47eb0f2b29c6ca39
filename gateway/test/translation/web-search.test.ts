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
/** The search as each caller asks for it, with nothing but what every target carries. */
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
/** What each upstream is sent for it. */
const sent = {
  "of-chat-search": { web_search_options: {} },
  "of-messages": { tools: [{ type: "web_search_20250305", name: "web_search" }] },
  "of-responses": { tools: [{ type: "web_search" }] },
  "of-gemini": { tools: [{ googleSearch: {} }] },
} as const;

const pathOf = (path: string, model: string): string => path || `/v1beta/models/${model}:generateContent`;

async function ask(model: keyof typeof answers, path: string, body: object) {
  const { type: _type, ...asked } = { type: "", model, ...body };
  const response = await gateway.call(pathOf(path, model), path === "" ? body : asked, answers[model]);
  await response.text();
  const requestId = response.headers.get("x-request-id");
  const entry = (await gateway.entries()).find((one) => one.requestId === requestId);
  return { response, entry, sent: gateway.sent(), warnings: response.headers.get("x-sluice-warnings") };
}

describe.each(Object.keys(sent) as (keyof typeof sent)[])(
  "a search of the web that is asked of an upstream %s",
  (model) => {
    test.each(callers.filter(([name]) => !model.startsWith(name)))(
      "by a caller %s is the vendor's own",
      async (_, path, body) => {
        const told = await ask(model, path, body);
        expect([told.response.status, told.warnings]).toEqual([200, model === "of-responses" ? told.warnings : null]);
        expect(told.sent).toMatchObject(sent[model] as never);
        // One that its upstream does not count is one.
        const searches = model === "of-chat-search" ? 1 : 2;
        expect(told.entry?.usage.webSearches).toBe(searches);
        expect(told.entry?.costNanoUsd).toBe(10 * 1_000 + 5 * 10_000 + searches * 10_000_000);
      },
    );
  },
);

test("where the upstream offers none, the search is left out with a warning and costs nothing", async () => {
  const [, , ofMessages] = callers[1] ?? [];
  const told = await ask("of-chat", paths.messages, ofMessages ?? {});
  expect([told.response.status, told.warnings]).toEqual([200, expect.stringContaining("web_search")]);
  expect(told.sent).not.toHaveProperty("web_search_options");
  expect(told.entry?.usage.webSearches).toBe(0);
});

test("Google does not search beside functions: the functions stay", async () => {
  const tools = [
    { type: "web_search", search_context_size: "high" },
    { type: "function", name: "look", parameters: { type: "object", properties: {} } },
  ];
  const told = await ask("of-gemini", paths.responses, { input: "x", tools });
  expect(told.warnings).toContain("combine it with functions");
  expect(told.sent["tools"]).toMatchObject([{ functionDeclarations: [{ name: "look" }] }]);
});

test("where, how often and in which domains is carried where both can say it, and warned of where not", async () => {
  const anthropic = {
    type: "web_search_20250305",
    name: "web_search",
    max_uses: 3,
    allowed_domains: ["example.com"],
    user_location: { type: "approximate", ...place },
  };
  const asked = { messages, max_tokens: 64, tools: [anthropic] };
  const openai = await ask("of-responses", paths.messages, asked);
  expect(openai.sent).toMatchObject({
    tools: [
      {
        type: "web_search",
        filters: { allowed_domains: ["example.com"] },
        user_location: { type: "approximate", ...place },
      },
    ],
    max_tool_calls: 3,
  });
  const google = await ask("of-gemini", paths.messages, asked);
  for (const lost of ["number of uses", "allowed domains", "location"]) expect(google.warnings).toContain(lost);
  const chat = {
    messages,
    web_search_options: { search_context_size: "low", user_location: { type: "approximate", approximate: place } },
  };
  const claude = await ask("of-messages", paths.chat, chat);
  expect(claude.sent).toMatchObject({
    tools: [{ type: "web_search_20250305", user_location: { type: "approximate", ...place } }],
  });
  expect(claude.warnings).toContain("context size");
  const back = await ask("of-chat-search", paths.responses, {
    input: "x",
    tools: [
      { type: "web_search_preview", search_context_size: "low", user_location: { type: "approximate", ...place } },
    ],
  });
  expect(back.sent).toMatchObject({ web_search_options: chat.web_search_options });
});
