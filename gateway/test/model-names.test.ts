import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "./started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** The maximum length in characters, with four bytes each. */
const longest = "\u{1f6a2}".repeat(256);
const messages = [{ role: "user", content: "hello" }];
const contents = [{ role: "user", parts: [{ text: "hello" }] }];

const bodies: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", { messages }],
  ["/v1/messages", { messages, max_tokens: 5 }],
  ["/v1/messages/count_tokens", { messages }],
  ["/v1/responses", { input: "hello" }],
  ["/v1/responses/compact", { input: "hello" }],
  ["/v1/responses/input_tokens", { input: "hello" }],
  ["/v1/completions", { prompt: "hello" }],
  ["/v1/embeddings", { input: "hello" }],
  ["/v1/rerank", { query: "hello", documents: ["hello"] }],
  ["/v1/moderations", { input: "hello" }],
  ["/v1/images/generations", { prompt: "hello" }],
  ["/v1/images/edits", { prompt: "hello", images: [{ image_url: "https://example.com/a.png" }] }],
  ["/v1/audio/speech", { input: "hello", voice: "alloy" }],
  ["/v1/video/tasks", { prompt: "hello" }],
  ["/v1/videos", { prompt: "hello" }],
];

const forms: readonly (readonly [path: string, file: string | null])[] = [
  ["/v1/images/edits", "image"],
  ["/v1/audio/transcriptions", "file"],
  ["/v1/audio/translations", "file"],
  ["/v1/videos", null],
];

const paths: readonly (readonly [verb: string, body: object])[] = [
  ["generateContent", { contents }],
  ["streamGenerateContent?alt=sse", { contents }],
  ["countTokens", { contents }],
  ["embedContent", { content: contents[0] }],
  ["batchEmbedContents", { requests: [{ content: contents[0] }] }],
];

describe("a model's name of more than 256 characters is a 400, any shorter one a 404, independently of bytes", () => {
  test.each(bodies)("in the JSON of %s", async (path, body) => {
    const ask = (model: string) =>
      gateway.post(path, { ...body, model }, { headers: { "anthropic-version": "2023-06-01" } });
    await expectLimit(ask);
  });

  test("written in escapes", async () => {
    const escaped = "\\ud83d\\udea2".repeat(256);
    const ask = (more: string) =>
      gateway.post("/v1/chat/completions", `{"model":"${escaped}${more}","messages":${JSON.stringify(messages)}}`);
    expect((await ask("")).status).toBe(404);
    expect((await ask("a")).status).toBe(400);
    expect((await ask(escaped)).status).toBe(400);
  });

  test.each(forms)("in a form to %s", async (path, file) => {
    await expectLimit((model) => {
      const form = new FormData();
      form.set("model", model);
      form.set("prompt", "hello");
      if (file !== null) form.set(file, new File(["hello"], "a.png", { type: "image/png" }));
      return fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${aliceKey}` },
        body: form,
      });
    });
  });

  test.each(paths)("in the path before %s", async (verb, body) => {
    await expectLimit((model) => gateway.post(`/v1beta/models/${encodeURIComponent(model)}:${verb}`, body));
  });
});

async function expectLimit(ask: (model: string) => Promise<Response>): Promise<void> {
  const good = await ask(longest);
  expect(`${good.status} ${await good.text()}`).toStartWith("404");
  const long = await ask(`${longest}a`);
  const text = await long.text();
  expect(`${long.status} ${text}`).toStartWith("400");
  expect(text).toContain("more than 256 characters");
}
