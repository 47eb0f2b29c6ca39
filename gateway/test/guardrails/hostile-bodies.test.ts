import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { email, secret } from "./guardrail-fixture.ts";

type Body = string | Buffer<ArrayBuffer> | FormData | null;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

let server: ReturnType<typeof Bun.serve>;
let gateway: StartedGateway;
let answer: () => Response;
const received: string[] = [];

beforeAll(async () => {
  server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      received.push(`${request.url} ${await request.text()}`);
      return answer();
    },
  });
  gateway = await startGateway({
    providers: (simulator) =>
      (["openai", "anthropic", "gemini"] as const).map((kind) =>
        upstream(kind, simulator, {
          kind,
          base_url: `http://127.0.0.1:${server.port}`,
          settings: { pass_through: { price_per_call: 0 } },
        }),
      ),
    models: ["openai", "anthropic", "gemini"].map((provider) => ({
      name: provider,
      deployments: [{ provider, upstream_model: `${provider}-model` }],
    })),
    workspace: {
      pass_through: ["openai"],
      groups: [{ name: "default", pass_through: ["openai"] }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: ["openai"] }],
    },
    guardrails: [
      { name: "keys", check: { kind: "credentials" }, action: "block" },
      { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask" },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
});
beforeEach(() => {
  received.length = 0;
  answer = () => Response.json({ object: "list", data: [] });
});

const through = "/v1/providers/openai/v1/threads/runs";
const chat = (content: unknown): object => ({ model: "openai", messages: [{ role: "user", content }] });

async function send(path: string, body: Body, headers: Record<string, string>) {
  const method = body === null ? "GET" : "POST";
  const response = await fetch(`${gateway.url}${path}`, {
    ...{ method, body },
    headers: { authorization: `Bearer ${aliceKey}`, ...headers },
  });
  return { status: response.status, text: await response.text() };
}

const form = (field: string, file: string | Uint8Array<ArrayBuffer>): FormData => {
  const data = new FormData();
  data.append("purpose", field);
  data.append("file", new Blob([file]), "notes.txt");
  return data;
};

const json = { "content-type": "application/json" };

test.each<[string, string, Body, Record<string, string>]>([
  ["JSON's escapes", "/v1/chat/completions", JSON.stringify(chat("@")).replace("@", `\\u0067${secret.slice(1)}`), json],
  [
    "a compressed body",
    "/v1/chat/completions",
    gzipSync(JSON.stringify(chat(secret))),
    { ...json, "content-encoding": "gzip" },
  ],
  [
    "a compressed body that is passed through",
    through,
    gzipSync(JSON.stringify({ a: secret })),
    { ...json, "content-encoding": "gzip" },
  ],
  ["a body without a type", through, Buffer.from(JSON.stringify({ a: secret })), {}],
  ["lines of JSON", through, `{"a":1}\n{"a":"${secret}"}\n`, { "content-type": "application/x-ndjson" }],
  ["URL-encoded fields", through, `a=${secret}`, { "content-type": "application/x-www-form-urlencoded" }],
  ["a field of a form that is passed through", "/v1/providers/openai/v1/files", form(secret, "x"), {}],
  ["a text file of a form", "/v1/providers/openai/v1/files", form("x", `key: ${secret}`), {}],
  ["a field of a form with a binary file", "/v1/providers/openai/v1/files", form(secret, new Uint8Array(64)), {}],
  ["the query of a URL", `${through}?q=${secret}`, null, {}],
  ["an encoded query", `${through}?q=%67${secret.slice(1)}`, JSON.stringify({ a: 1 }), json],
  ["a text file to mask in a form", "/v1/providers/openai/v1/files", form("x", `to ${email}`), {}],
])("refuses %s with a value", async (_title, path, body, headers) => {
  const { status, text } = await send(path, body, headers);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).toContain("guardrail");
  expect(received).toEqual([]);
});

test.each([
  [
    "a data URL",
    "/v1/chat/completions",
    (text: string) =>
      chat([{ type: "file", file: { filename: "a.txt", file_data: `data:text/plain;base64,${base64(text)}` } }]),
  ],
  [
    "a data URL without base64",
    "/v1/chat/completions",
    (text: string) => chat([{ type: "image_url", image_url: { url: `data:text/plain,${encodeURIComponent(text)}` } }]),
  ],
  [
    "a data URL that claims to be an image",
    "/v1/responses",
    (text: string) => ({
      model: "openai",
      input: [{ role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${base64(text)}` }] }],
    }),
  ],
  [
    "base64 of Messages",
    "/v1/messages",
    (text: string) => ({
      ...{ model: "anthropic", max_tokens: 9 },
      messages: [
        {
          role: "user",
          content: [{ type: "document", source: { type: "base64", media_type: "text/plain", data: base64(text) } }],
        },
      ],
    }),
  ],
  [
    "inline data of Gemini",
    "/v1beta/models/gemini:generateContent",
    (text: string) => ({
      contents: [{ role: "user", parts: [{ inlineData: { mimeType: "text/csv", data: base64(text) } }] }],
    }),
  ],
])("refuses a text file with a value: %s", async (_title, path, body) => {
  for (const text of [`The key is ${secret}`, `Write to ${email}`]) {
    const refused = await send(path, JSON.stringify(body(text)), { ...json, "anthropic-version": "2023-06-01" });
    expect([refused.status, received.length]).toEqual([400, 0]);
    expect(refused.text).toContain("guardrail");
  }
});

const events = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;

test.each<[string, string, () => Response]>([
  ["JSON that is passed through", "GET", () => Response.json({ a: secret })],
  ["text of another type", "GET", () => new Response(secret, { headers: { "content-type": "text/plain" } })],
  [
    "a byte order mark and escapes",
    "POST",
    () => new Response(`\uFEFF{"a":"\\u0067${secret.slice(1)}"}`, { headers: json }),
  ],
  [
    "a compressed answer",
    "POST",
    () => new Response(gzipSync(JSON.stringify({ a: secret })), { headers: { ...json, "content-encoding": "gzip" } }),
  ],
  [
    "a stream of Amazon's events",
    "POST",
    () => new Response(`\0\0${secret}`, { headers: { "content-type": "application/vnd.amazon.eventstream" } }),
  ],
  [
    "a stream that begins with a comment",
    "POST",
    () => new Response(`: hello\n\n${events(secret)}`, { headers: { "content-type": "text/event-stream" } }),
  ],
  [
    "a stream that begins with a ping",
    "POST",
    () =>
      new Response(`event: ping\ndata: {}\n\n${events(secret)}`, { headers: { "content-type": "text/event-stream" } }),
  ],
  [
    "a stream with a piece that begins with a colon",
    "POST",
    () => {
      const bytes = Buffer.from(events(secret));
      const colon = bytes.indexOf(":", 20);
      const pieces = [bytes.subarray(0, colon), bytes.subarray(colon)];
      const stream = new ReadableStream({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  ],
])("keeps a value from the caller in %s", async (_title, method, made) => {
  answer = made;
  const { text } = await send(through, method === "GET" ? null : "{}", json);
  expect(text).not.toContain(secret.slice(4));
  expect(text).toContain("guardrail");
});

const encodings: readonly (readonly [string, (bytes: string) => Buffer<ArrayBuffer>])[] = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
];

test.each(encodings)("lets no value through a request in %s", async (encoding, compress) => {
  for (const path of ["/v1/chat/completions", through]) {
    const headers = { ...json, "content-encoding": encoding };
    const { status, text } = await send(path, compress(JSON.stringify(chat(secret))), headers);
    expect([status >= 400, text.includes(secret), received]).toEqual([true, false, []]);
  }
});

test.each(encodings)("lets no value through an answer in %s, whole and streamed", async (encoding, compress) => {
  const whole = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: secret } }] });
  for (const [stream, type, body] of [
    [false, "application/json", whole],
    [true, "text/event-stream", events(secret)],
  ] as const) {
    answer = () => new Response(compress(body), { headers: { "content-type": type, "content-encoding": encoding } });
    const { text } = await send("/v1/chat/completions", JSON.stringify({ ...chat("hi"), stream }), json);
    expect(text).not.toContain(secret.slice(4));
  }
});

const quoted = JSON.stringify;

test.each([
  ["after a lone surrogate", `{"model":"openai","messages":[{"role":"user","content":"\\ud83d ${secret}"}]}`],
  ["after a null character", `{"model":"openai","messages":[{"role":"user","content":"\\u0000${secret}"}]}`],
  [
    "in escapes of every character",
    `{"model":"openai","messages":[{"role":"user","content":"${[...secret].map((character) => `\\u00${character.charCodeAt(0).toString(16)}`).join("")}"}]}`,
  ],
  [
    "in the first of two members",
    `{"model":"openai","messages":[{"role":"user","content":${quoted(secret)},"content":"hi"}]}`,
  ],
  [
    "in the second of two members",
    `{"model":"openai","messages":[{"role":"user","content":"hi","content":${quoted(secret)}}]}`,
  ],
  [
    "in a member with an escaped name",
    `{"model":"openai","messages":[{"role":"user","c\\u006fntent":${quoted(secret)}}]}`,
  ],
  [
    "in a list that appears twice",
    `{"model":"openai","messages":[{"role":"user","content":${quoted(secret)}}],"messages":[{"role":"user","content":"hi"}]}`,
  ],
  [
    "under a type that appears twice",
    `{"model":"openai","messages":[{"role":"user","content":[{"type":"image_url","type":"text","text":${quoted(secret)}}]}]}`,
  ],
  [
    "after white space and a mark",
    `\ufeff \n{"model":"openai","messages":[{"role":"user","content":${quoted(secret)}}]}`,
  ],
])("refuses a value %s", async (_title, body) => {
  const { status, text } = await send("/v1/chat/completions", body, json);
  expect([status, text.includes(secret), received]).toEqual([400, false, []]);
});

test("refuses an overlong encoding, in which a value could hide", async () => {
  // 0xC1 0xA7 would be a g.
  const [before = "", after = ""] = JSON.stringify(chat("@")).split("@");
  const hidden = Buffer.concat([Buffer.from(before), Buffer.from([0xc1, 0xa7]), Buffer.from(secret.slice(1) + after)]);
  const { status, text } = await send("/v1/chat/completions", hidden as Buffer<ArrayBuffer>, json);
  expect([status < 500, text.includes(secret)]).toEqual([true, false]);
  expect(received.join()).not.toContain(secret);
});

test("masks next to lone surrogates without changing them", async () => {
  const body = `{"model":"openai","messages":[{"role":"user","content":"\\ud83d ${email} \\udc00 \\u0000"}]}`;
  const { status } = await send("/v1/chat/completions", body, json);
  expect(status).toBe(200);
  expect(received[0]).toMatch(/"\\ud83d ‹EMAIL_[0-9A-Z]{8}› \\udc00 \\u0000"/);
});
