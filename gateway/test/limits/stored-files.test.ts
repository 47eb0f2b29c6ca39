import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
const kinds = { openai: "openai", claude: "anthropic", gem: "gemini" } as const;
const names = Object.keys(kinds) as (keyof typeof kinds)[];
/** USD per million tokens. */
const price = { input: 10, output: 10 };
const contextWindow = 200_000;
let vendor: RawUpstream;
let reply = "";
const json = "content-type: application/json\r\n";
beforeAll(async () => {
  vendor = await startRawUpstream((socket) => void socket.write(reply));
  const granted = { pass_through: names };
  gateway = await startGateway({
    providers: (simulator) =>
      names.map((name) =>
        upstream(name, simulator, {
          kind: kinds[name],
          base_url: vendor.url,
          settings: { pass_through: { price_per_call: 0 }, ...(name === "gem" ? { endpoints: ["generate"] } : {}) },
        }),
      ),
    models: names.map((name) => ({
      ...{ name, price, context_window: contextWindow },
      deployments: [{ provider: name, upstream_model: name === "claude" ? "claude-sim-4-5" : `upstream-${name}` }],
    })),
    workspace: { ...granted, groups: [{ name: "default", ...granted }] },
    keys: [{ name: "alice", secret: aliceKey, ...granted, budget: { usd: 1_000, period: "total" } }],
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const headers = { "anthropic-version": "2023-06-01" };
/** Creates an object through the gateway, at the vendor's own path. */
const make = async (path: string, made: object): Promise<void> => {
  reply = rawAnswer(JSON.stringify(made), json);
  expect([path, (await gateway.post(`/v1/providers/${path}`, {}, { headers })).status]).toEqual([path, 200]);
};
/** The tokens that a call is held at. A refused call teaches nothing. */
const held = async (path: string, body: object): Promise<number> => {
  reply = rawAnswer('{"error":{"message":"no"}}', json).replace("200 OK", "400 Bad Request");
  expect([path, (await gateway.post(path, body, { headers })).status]).toEqual([path, 400]);
  const [entry] = await gateway.entries();
  return (entry?.reservedNanoUsd ?? 0) / 10_000;
};

const response = (file_id: string, type = "input_file") => ({
  model: "openai",
  max_output_tokens: 10,
  input: [{ role: "user", content: [{ type, file_id }] }],
});
const message = (file_id: string, type = "document") => ({
  model: "claude",
  max_tokens: 10,
  messages: [{ role: "user", content: [{ type, source: { type: "file", file_id } }] }],
});
const generation = (fileUri: string, mimeType = "text/plain") => ({
  contents: [{ role: "user", parts: [{ fileData: { fileUri, mimeType } }] }],
  generationConfig: { maxOutputTokens: 10 },
});
const cached = (cachedContent: string) => ({
  contents: [{ role: "user", parts: [{ text: "Go on." }] }],
  generationConfig: { maxOutputTokens: 10 },
  cachedContent,
});
const generate = "/v1beta/models/gem:generateContent";

/** The same call at our endpoint and at the vendor's own path. */
const ways: readonly (readonly [name: string, send: (body: object) => Promise<number>])[] = [
  ["served", (body) => held("model" in body ? pathOf(body.model as string) : generate, body)],
  [
    "passed through",
    (body) => {
      if (!("model" in body)) return held("/v1/providers/gem/models/upstream-gem:generateContent", body);
      const model = body.model === "claude" ? "claude-sim-4-5" : "upstream-openai";
      return held(`/v1/providers/${body.model}${body.model === "claude" ? "/v1/messages" : "/responses"}`, {
        ...body,
        model,
      });
    },
  ],
];
const pathOf = (model: string): string => (model === "claude" ? "/v1/messages" : "/v1/responses");

describe.each(ways)("holds stored objects by their record in a call that is %s", (_name, send) => {
  test("a text by its size, with the margin for text", async () => {
    await make("openai/files", { id: "file-text", object: "file", bytes: 8_000, filename: "notes.txt" });
    await make("claude/v1/files", { id: "file_text", type: "file", size_bytes: 8_000, mime_type: "text/plain" });
    await make("gem/files", {
      file: {
        name: "files/text",
        uri: "https://generativelanguage.googleapis.com/v1beta/files/text",
        sizeBytes: "8000",
        mimeType: "text/plain",
      },
    });
    for (const body of [
      response("file-text"),
      message("file_text"),
      generation("https://generativelanguage.googleapis.com/v1beta/files/text"),
    ]) {
      const tokens = await send(body);
      expect(tokens).toBeGreaterThan(2_500);
      expect(tokens).toBeLessThan(2_800);
    }
  });

  test("a document that may be compressed by its full size", async () => {
    await make("openai/files", { id: "file-pdf", object: "file", bytes: 30_000, filename: "paper.pdf" });
    await make("claude/v1/files", { id: "file_pdf", type: "file", size_bytes: 30_000, mime_type: "application/pdf" });
    for (const body of [response("file-pdf"), message("file_pdf")]) {
      const tokens = await send(body);
      expect(tokens).toBeGreaterThan(40_000);
      expect(tokens).toBeLessThan(41_000);
    }
  });

  test("a picture as a picture, whatever its size", async () => {
    await make("openai/files", { id: "file-png", object: "file", bytes: 900_000, filename: "a.png" });
    await make("claude/v1/files", { id: "file_png", type: "file", size_bytes: 900_000, mime_type: "image/png" });
    for (const body of [
      response("file-png", "input_image"),
      message("file_png", "image"),
      generation("https://generativelanguage.googleapis.com/v1beta/files/unseen", "image/png"),
    ]) {
      const tokens = await send(body);
      expect(tokens).toBeGreaterThan(4_096);
      expect(tokens).toBeLessThan(4_400);
    }
  });

  test("a cache by the tokens reported at its creation", async () => {
    await make("gem/cachedContents", { name: "cachedContents/some", usageMetadata: { totalTokenCount: 5_000 } });
    const tokens = await send(cached("cachedContents/some"));
    expect(tokens).toBeGreaterThan(5_000);
    expect(tokens).toBeLessThan(5_200);
  });

  test("an unknown object fills the context window", async () => {
    for (const body of [
      response("file-unseen"),
      message("file_unseen"),
      generation("https://generativelanguage.googleapis.com/v1beta/files/unseen", "video/mp4"),
      cached("cachedContents/unseen"),
    ]) {
      expect(await send(body)).toBeGreaterThan(contextWindow);
    }
  });
});
