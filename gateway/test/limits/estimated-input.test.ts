import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
afterAll(() => gateway.stop());

/** USD per million tokens. */
const perMillion = 10;
const price = { input: perMillion, output: perMillion };

beforeAll(async () => {
  const deployed = (provider: string) => [{ provider, upstream_model: `upstream-${provider}` }];
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai" }),
      upstream("other", simulator),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("gem", simulator, { kind: "gemini", settings: { endpoints: ["generate"] } }),
    ],
    models: [
      { name: "chat", deployments: deployed("main"), price },
      { name: "claude", deployments: deployed("claude"), price },
      { name: "gem", deployments: deployed("gem"), price },
      { name: "ranker", type: "rerank", deployments: deployed("other"), price },
      { name: "vector", type: "embedding", deployments: deployed("main"), price },
    ],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 1_000, period: "total" } }],
  });
});

const size = 40_000;
/** Texts that are far denser than prose, measured in their JSON bytes. */
const texts: Readonly<Record<string, string>> = {
  Chinese: "汉字".repeat(size / 6),
  emoji: "🦊".repeat(size / 4),
  base64: "q83vEjRWeJA".repeat(size / 11),
  hex: "9f3c0b7a".repeat(size / 8),
  blanks: " ".repeat(size),
  "minified code": "a=b;c(d)?".repeat(size / 9),
  escapes: "\\u4e2d".repeat(size / 6),
};

const user = (text: string) => [{ role: "user", content: text }];
const schema = (text: string) => ({ type: "object", properties: { a: { type: "string", description: text } } });
const chat = { model: "chat", max_tokens: 10, messages: user("Hello") };
const claude = { model: "claude", max_tokens: 10, messages: user("Hello") };
const response = { model: "chat", max_output_tokens: 10, input: "Hello" };
const parts = (text: string) => [{ role: "user", parts: [{ text }] }];
const generated = { contents: parts("Hello"), generationConfig: { maxOutputTokens: 10 } };
const generate = "/v1beta/models/gem:generateContent";

/** Every field that an upstream reads as input text. */
const places: readonly (readonly [path: string, member: string, body: (text: string) => object])[] = [
  ["/v1/chat/completions", "messages", (text) => ({ ...chat, messages: user(text) })],
  [
    "/v1/chat/completions",
    "tools",
    (text) => ({ ...chat, tools: [{ type: "function", function: { name: "f", parameters: schema(text) } }] }),
  ],
  ["/v1/chat/completions", "functions", (text) => ({ ...chat, functions: [{ name: "f", parameters: schema(text) }] })],
  [
    "/v1/chat/completions",
    "response_format",
    (text) => ({ ...chat, response_format: { type: "json_schema", json_schema: { name: "s", schema: schema(text) } } }),
  ],
  ["/v1/chat/completions", "prediction", (text) => ({ ...chat, prediction: { type: "content", content: text } })],
  ["/v1/messages", "messages", (text) => ({ ...claude, messages: user(text) })],
  ["/v1/messages", "system", (text) => ({ ...claude, system: text })],
  ["/v1/messages", "tools", (text) => ({ ...claude, tools: [{ name: "f", input_schema: schema(text) }] })],
  [
    "/v1/messages",
    "output_config",
    (text) => ({ ...claude, output_config: { format: { type: "json_schema", schema: schema(text) } } }),
  ],
  ["/v1/responses", "input", (text) => ({ ...response, input: text })],
  ["/v1/responses", "instructions", (text) => ({ ...response, instructions: text })],
  [
    "/v1/responses",
    "text.format",
    (text) => ({ ...response, text: { format: { type: "json_schema", name: "s", schema: schema(text) } } }),
  ],
  [generate, "contents", (text) => ({ ...generated, contents: parts(text) })],
  [generate, "systemInstruction", (text) => ({ ...generated, systemInstruction: { parts: [{ text }] } })],
  [
    generate,
    "responseJsonSchema",
    (text) => ({ ...generated, generationConfig: { ...generated.generationConfig, responseJsonSchema: schema(text) } }),
  ],
  ["/v1/rerank", "documents", (text) => ({ model: "ranker", query: "Hello", documents: [text] })],
  ["/v1/rerank", "query", (text) => ({ model: "ranker", query: text, documents: ["Hello"] })],
  ["/v1/embeddings", "input", (text) => ({ model: "vector", input: [text] })],
];

describe("holds at least one token per 3.2 bytes of text in any field", () => {
  for (const [path, member, body] of places) {
    test(`${path}: ${member}`, async () => {
      for (const [name, text] of Object.entries(texts)) {
        // Escapes do not count: they are the caller's spelling.
        const sent = JSON.stringify(body("#")).replace("#", text);
        const headers = { "anthropic-version": "2023-06-01" };
        // A refused call teaches nothing.
        expect((await gateway.post(path, sent, { headers, script: { status: 400 } })).status).toBe(400);
        const [entry] = await gateway.entries();
        const tokens = ((entry?.reservedNanoUsd ?? 0) / 1e9 / perMillion) * 1e6;
        expect([name, tokens > size / 3.3]).toEqual([name, true]);
      }
    });
  }
});
