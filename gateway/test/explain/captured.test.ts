import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { hi, version } from "../endpoints/messages/claude-gateway.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { captureOf, headersIn, rowsIn } from "./fixture.ts";

const headersKey = "sk-headers-0123456789abcdefgh";
const plainKey = "sk-plain-0123456789abcdefghij";
const dayMs = 86_400_000;

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    explainThread: true,
    providers: (simulator) => [
      upstream("main", simulator),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("gone", simulator, { base_url: "http://127.0.0.1:9" }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }] },
      { name: "claude-test", deployments: [{ provider: "claude", upstream_model: "upstream-claude" }] },
      { name: "gone-test", deployments: [{ provider: "gone" }] },
      { name: "paint-test", type: "image", deployments: [{ provider: "main", upstream_model: "gpt-image-1" }] },
      { name: "embed-test", type: "embedding", deployments: [{ provider: "main", upstream_model: "up-embed" }] },
    ],
    keys: [
      { name: "alice", secret: aliceKey, capture: "bodies" },
      { name: "headers", secret: headersKey, capture: "headers" },
      { name: "plain", secret: plainKey },
    ],
  });
});
afterAll(() => gateway.stop());

describe("for a key that captures bodies", () => {
  const calls: [string, string, object, Record<string, string>][] = [
    ["a chat", "/v1/chat/completions", hello, {}],
    ["a translated message", "/v1/messages", { ...hi, model: "gpt-test" }, version],
    ["a message", "/v1/messages", hi, version],
    ["a response", "/v1/responses", { model: "gpt-test", input: "hello" }, {}],
    ["an embedding", "/v1/embeddings", { model: "embed-test", input: ["one", "two"] }, {}],
  ];

  test.each(calls)("captures %s with its request and answer", async (_title, path, body, headers) => {
    const sent = JSON.stringify(body, null, 2);
    const before = Date.now();
    const response = await gateway.post(path, sent, { script: { tokens: 3 }, headers });
    const answer = await response.text();
    expect(response.status).toBe(200);
    const capture = await captureOf(gateway, response);
    expect(capture).toMatchObject({
      request_body: sent,
      request_bytes: sent.length,
      response_body: answer,
      response_bytes: Buffer.byteLength(answer),
      truncated: false,
    });
    expect(capture?.expires_at).toBeWithin(before + 7 * dayMs, Date.now() + 7 * dayMs + 1);
    expect(headersIn(capture?.request_headers)).toMatchObject({
      authorization: "[redacted]",
      "content-type": "application/json",
      ...headers,
    });
    expect(headersIn(capture?.response_headers)).toMatchObject({
      "x-request-id": response.headers.get("x-request-id"),
      "x-sluice-provider": response.headers.get("x-sluice-provider"),
    });
  });

  test("captures a stream as the caller received it", async () => {
    for (const [path, body, headers] of [
      ["/v1/chat/completions", hello, {}],
      ["/v1/messages", hi, version],
      ["/v1/messages", { ...hi, model: "gpt-test" }, version],
      ["/v1/responses", { model: "gpt-test", input: "hello" }, {}],
    ] as const) {
      const response = await gateway.post(
        path,
        { ...body, stream: true },
        { script: { tokens: 5, event_ms: 5 }, headers },
      );
      const answer = await response.text();
      const capture = await captureOf(gateway, response);
      expect(capture).toMatchObject({
        response_body: answer,
        response_bytes: Buffer.byteLength(answer),
        truncated: false,
      });
      expect(headersIn(capture?.response_headers)["content-type"]).toStartWith("text/event-stream");
    }
  });

  test("captures a cancelled stream up to the cancellation, and stops its upstream", async () => {
    const leaving = new AbortController();
    const script = { tokens: 50_000, event_ms: 20 };
    const response = await gateway.chat({ ...hello, stream: true }, { script, signal: leaving.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await gateway.entries();
    const capture = await until(() => captureOf(gateway, response));
    expect(capture.response_body).toStartWith("data: {");
    expect(capture.response_body).not.toContain("[DONE]");
    await until(() => gateway.gateway.outstanding() === 0);
  });

  test("captures refusals of the gateway and of the upstream", async () => {
    const missing = await gateway.chat({ ...hello, model: "no-such-model" });
    expect(missing.status).toBe(404);
    expect((await captureOf(gateway, missing))?.response_body).toBe(await missing.text());
    const refused = await gateway.chat(hello, { script: { status: 400, error_message: "too hot" } });
    expect((await captureOf(gateway, refused))?.response_body).toBe(await refused.text());
    const unreachable = await gateway.chat({ ...hello, model: "gone-test" });
    expect(unreachable.status).toBe(502);
    expect((await captureOf(gateway, unreachable))?.response_body).toBe(await unreachable.text());
  });

  test("leaves images out of the request and the answer", async () => {
    const picture = `data:image/png;base64,${Buffer.alloc(90_000, 7).toString("base64")}`;
    const body = JSON.stringify({ model: "paint-test", prompt: "a hat", images: [{ image_url: picture }], n: 1 });
    const response = await gateway.post("/v1/images/edits", body);
    await response.arrayBuffer();
    const capture = await captureOf(gateway, response);
    expect(capture?.request_bytes).toBe(body.length);
    expect(capture?.request_body).toMatch(/base64,.{10,40}…\[\d+ more characters of base64\]"\}\],"n":1\}$/);
    expect(capture?.truncated).toBe(false);
  });

  test("replaces a form with its type and size", async () => {
    const form = new FormData();
    form.set("model", "paint-test");
    form.set("prompt", "make it green");
    form.set("image", new File([new Uint8Array(2_000).fill(7)], "a.png", { type: "image/png" }));
    const response = await fetch(`${gateway.url}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${aliceKey}` },
      body: form,
    });
    expect(response.status).toBe(200);
    const capture = await captureOf(gateway, response);
    expect(capture?.request_body).toMatch(/^\[multipart\/form-data, 2\d\d\d bytes\]$/);
    expect(capture?.request_body).not.toContain("green");
  });

  test("decompresses a compressed body", async () => {
    const sent = JSON.stringify(hello);
    const response = await gateway.post("/v1/chat/completions", Bun.gzipSync(Buffer.from(sent)), {
      headers: { "content-encoding": "gzip" },
      script: { tokens: 1 },
    });
    await response.arrayBuffer();
    expect((await captureOf(gateway, response))?.request_body).toBe(sent);
  });

  test("truncates bodies beyond 64 KiB, streamed or not", async () => {
    const content = "say hello ".repeat(20_000);
    const sent = JSON.stringify({ ...hello, stream: true, messages: [{ role: "user", content }] });
    const response = await gateway.chat(sent, { script: { tokens: 2, giant_event_bytes: 200_000 } });
    const answer = await response.text();
    expect(answer.length).toBeGreaterThan(200_000);
    const capture = await captureOf(gateway, response);
    expect(capture).toMatchObject({
      truncated: true,
      request_bytes: sent.length,
      response_bytes: Buffer.byteLength(answer),
      request_body: sent.slice(0, bounds.captureBodyBytesMax),
    });
    expect(capture?.response_body?.length).toBeLessThanOrEqual(bounds.captureBodyBytesMax);
  });
});

test("captures no body for a key that captures headers", async () => {
  for (const body of [hello, { ...hello, stream: true }]) {
    const response = await gateway.chat(body, { key: headersKey, script: { tokens: 2 } });
    await response.arrayBuffer();
    const capture = await captureOf(gateway, response);
    expect(capture).toMatchObject({
      request_body: null,
      request_bytes: null,
      response_body: null,
      response_bytes: null,
      truncated: false,
    });
    expect(headersIn(capture?.request_headers)).toMatchObject({ authorization: "[redacted]" });
    expect(headersIn(capture?.response_headers)).toMatchObject({ "x-sluice-attempts": "1" });
  }
});

test("captures nothing for any other key", async () => {
  const before = await rowsIn(gateway);
  for (const body of [hello, { ...hello, stream: true }, { ...hello, model: "no-such-model" }]) {
    const response = await gateway.chat(body, { key: plainKey, script: { tokens: 2 } });
    await response.arrayBuffer();
    expect(await captureOf(gateway, response)).toBeNull();
  }
  expect((await rowsIn(gateway)).captures).toBe(before.captures);
});
