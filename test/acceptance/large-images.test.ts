import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { freePort } from "./free-port.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { WatchedLoop } from "./watched-loop.ts";

/** Processor time, the least of several attempts, as in the tests of hostile requests. */
const turnMsMax = 35;
const attemptsMax = 10;
const secret = "sk-acme-images-0000000001";
const imageBase64 = `iVBORw0KGgo${"AbC+/9x2".repeat(2_500_000)}`;

const usage = { input_tokens: 9, output_tokens: 5, total_tokens: 14 };
const imageCall = { type: "image_generation_call", id: "ig_1", status: "completed", result: imageBase64 };
const response = { id: "resp_1", object: "response", model: "up", status: "completed", output: [imageCall], usage };
const url = `data:image/png;base64,${imageBase64}`;
const chat = (delta: string, content: object, finish: string | null): object => ({
  id: "c1",
  object: "chat.completion",
  model: "up",
  choices: [{ index: 0, [delta]: content, finish_reason: finish }],
});
const images = { role: "assistant", content: "Here:", images: [{ type: "image_url", image_url: { url } }] };
const parts = [{ text: "Here:" }, { inlineData: { mimeType: "image/png", data: imageBase64 } }];
const gemini = {
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1_290, totalTokenCount: 1_299 },
  modelVersion: "up",
};
/** The answers of the simulated upstreams, by the end of the request path: whole, and as a stream. */
const answers: Readonly<Record<string, { readonly whole: object; readonly events: readonly object[] }>> = {
  "/chat/completions": {
    whole: chat("message", images, "stop"),
    events: [chat("delta", images, null), chat("delta", {}, "stop")],
  },
  "/responses": {
    whole: response,
    events: [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...imageCall, result: null } },
      { type: "response.image_generation_call.partial_image", output_index: 0, partial_image_b64: imageBase64 },
      { type: "response.output_item.done", output_index: 0, item: imageCall },
      { type: "response.completed", response },
    ],
  },
  ":generateContent": { whole: gemini, events: [] },
  ":streamGenerateContent": { whole: {}, events: [gemini] },
  "/images/generations": {
    whole: { created: 1, data: [{ b64_json: imageBase64 }], usage },
    events: [
      { type: "image_generation.partial_image", partial_image_index: 0, b64_json: imageBase64 },
      { type: "image_generation.completed", b64_json: imageBase64, usage },
    ],
  },
};

let upstream: ReturnType<typeof Bun.serve>;
let gateway: Gateway;
let loop: WatchedLoop;

beforeAll(async () => {
  upstream = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const [, answer] = Object.entries(answers).find(([end]) => pathname.endsWith(end)) ?? [];
      const { stream } = (await request.json()) as { readonly stream?: boolean };
      if (answer === undefined) return new Response(null, { status: 404 });
      if (stream !== true && !pathname.endsWith(":streamGenerateContent")) return Response.json(answer.whole);
      const text = answer.events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
      return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
    },
  });
  loop = new WatchedLoop(await freePort());
  gateway = await startGateway({ config: configOf(`http://127.0.0.1:${upstream.port}`), env: loop.environment });
});

afterAll(async () => {
  await gateway?.remove();
  await upstream?.stop(true);
});

const request = { messages: [{ role: "user", content: "draw" }], modalities: ["text", "image"] };
const callers: Readonly<Record<string, (model: string, stream: boolean) => readonly [path: string, body: object]>> = {
  "chat completions": (model, stream) => ["/v1/chat/completions", { ...request, model, stream }],
  Responses: (model, stream) => ["/v1/responses", { model, input: "draw", store: false, stream }],
  Gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [{ role: "user", parts: [{ text: "draw" }] }] },
  ],
};
const cells = ["of-chat", "of-responses", "of-gemini"].flatMap((model) =>
  Object.entries(callers).map(([name, call]) => ({ model, name, call })),
);

describe.each([
  { how: "in a stream", stream: true },
  { how: "in a whole answer", stream: false },
])("an image of 20 MB $how does not delay other callers", ({ stream }) => {
  test.each(cells)(
    "$model called with $name",
    async ({ model, call }) => await expectShortTurns(...call(model, stream)),
  );

  test("of-images called with images/generations", async () => {
    await expectShortTurns("/v1/images/generations", { model: "of-images", prompt: "draw", stream });
  });
});

test("an image from a chat model does not delay other callers of images/generations", async () => {
  await expectShortTurns("/v1/images/generations", { model: "of-gemini-images", prompt: "draw" });
});

async function expectShortTurns(path: string, body: object): Promise<void> {
  let longest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attemptsMax && longest >= turnMsMax; attempt++) {
    await loop.read();
    const answer = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text.length).toBeGreaterThan(imageBase64.length);
    longest = Math.min(longest, await loop.longestTurnMs(turnMsMax));
    if (process.env["HOSTILE_PRINT"] !== undefined) console.log(`${longest.toFixed(1)} ms ${path}`);
  }
  expect(longest).toBeLessThan(turnMsMax);
}

function configOf(base: string): ConfigFile {
  const provider = (id: string, kind: string, path: string, settings = {}) => ({
    ...{ id, kind, base_url: `${base}${path}`, api_key: "sk-upstream-of-the-tests-0042", settings },
    allow_private_network: true,
  });
  const model = (name: string, by: string, type: "chat" | "image" = "chat") => ({
    name,
    type,
    deployments: [{ provider: by, upstream_model: "up" }],
  });
  return {
    providers: [
      provider("chat", "openai-compatible", "/v1"),
      provider("openai", "openai", "/v1", { endpoints: ["responses"] }),
      provider("google", "gemini", "/v1beta", { endpoints: ["generate"] }),
      provider("images", "openai", "/v1"),
      provider("banana", "gemini", "/v1beta"),
    ] as ConfigFile["providers"],
    models: [
      model("of-chat", "chat"),
      model("of-responses", "openai"),
      model("of-gemini", "google"),
      model("of-images", "images", "image"),
      model("of-gemini-images", "banana", "image"),
    ] as ConfigFile["models"],
    workspaces: [
      { slug: "acme", groups: [{ name: "default" }], keys: [{ name: "one", secret }] },
    ] as ConfigFile["workspaces"],
  };
}
