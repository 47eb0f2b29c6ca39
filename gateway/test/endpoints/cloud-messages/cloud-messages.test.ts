import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { aliceKey, type ChatOptions, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const price = { input: 1, output: 10 };
const received: { readonly betas: string | null; readonly body: unknown }[] = [];
const streamHead = { headers: { "content-type": "text/event-stream" } };
/** A stream with lines that end in CRLF, which server-sent events may have. */
const streamWithCrlf = (usage: object): string =>
  [
    { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", content: [], usage } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`)
    .join("");
let vendor: ReturnType<typeof Bun.serve>;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = Bun.serve({
    idleTimeout: 0,
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      const body = (await request.json()) as { readonly stream?: boolean };
      received.push({ betas: request.headers.get("anthropic-beta"), body });
      const usage = { input_tokens: 1, output_tokens: 1 };
      if (body.stream === true) return new Response(streamWithCrlf(usage), streamHead);
      return Response.json({ id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage });
    },
  });
  const model = (name: string, provider: string, upstreamModel: string) => ({
    ...{ name, price, context_window: 200_000, max_output_tokens: 1_000 },
    deployments: [{ provider, upstream_model: upstreamModel }],
  });
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("recorder", simulator, { kind: "anthropic", base_url: `http://127.0.0.1:${vendor.port}/v1` }),
      upstream("openai", simulator, { kind: "openai" }),
      upstream("aws", simulator, { kind: "bedrock", settings: { region: "us-east-1" } }),
    ],
    models: [
      model("claude", "claude", "claude-sim-4-5"),
      model("us.anthropic.claude-opus-5-v1:0", "claude", "claude-sim-4-5"),
      model("arn:aws:bedrock:us-east-1::inference-profile/claude", "claude", "claude-sim-4-5"),
      model("claude@20260101", "claude", "claude-sim-4-5"),
      model("recorded", "recorder", "claude-sim-4-5"),
      model("gpt", "openai", "gpt-sim"),
      model("bedrock", "aws", "anthropic.claude-sim-4-5"),
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});

const bedrock = {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 50,
  messages: [{ role: "user", content: "hi" }],
};
const vertex = { ...bedrock, anthropic_version: "vertex-2023-10-16" };

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const codec = new EventStreamCodec(
  (input) => (typeof input === "string" ? input : text(input)),
  (input) => new TextEncoder().encode(input),
);

interface Frame {
  readonly type: string;
  readonly payload: { readonly type?: string; readonly message?: string };
}

/** The frames of a stream, with the events in chunks decoded. */
function framesIn(bytes: Uint8Array): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
    const { headers, body } = codec.decode(bytes.subarray(at, at + length));
    const payload = JSON.parse(text(body)) as { bytes?: string; message?: string };
    const inner = payload.bytes === undefined ? payload : JSON.parse(Buffer.from(payload.bytes, "base64").toString());
    const type = headers[":event-type"] ?? headers[":exception-type"];
    frames.push({ type: String(type?.value), payload: inner as Frame["payload"] });
    at += length;
  }
  return frames;
}

async function stream(model: string, body: object, options: ChatOptions = {}) {
  const answer = await gateway.post(`/model/${model}/invoke-with-response-stream`, body, options);
  return { answer, frames: framesIn(await answer.bytes()) };
}

const lastUpstream = () => gateway.simulator.simulator.truth.list().data.at(-1);

describe("Amazon Bedrock's InvokeModel", () => {
  test("answers like the Messages API", async () => {
    const answer = await gateway.post("/model/claude/invoke", bedrock);
    expect(await answer.json()).toMatchObject({ type: "message", role: "assistant", usage: { input_tokens: 1 } });
    expect(lastUpstream()?.model).toBe("claude-sim-4-5");
    expect((await gateway.entries())[0]).toMatchObject({ endpoint: "messages", model: "claude", outcome: "succeeded" });
  });

  test.each([
    ["us.anthropic.claude-opus-5-v1:0", "us.anthropic.claude-opus-5-v1:0"],
    ["arn:aws:bedrock:us-east-1::inference-profile%2Fclaude", "arn:aws:bedrock:us-east-1::inference-profile/claude"],
  ])("takes the model id %s from the path", async (encoded, model) => {
    expect((await gateway.post(`/model/${encoded}/invoke`, bedrock)).status).toBe(200);
    expect((await gateway.entries())[0]).toMatchObject({ model });
  });

  test.each(["claude", "gpt", "bedrock"])(
    "streams frames of events from %s, for any API of its upstream",
    async (model) => {
      const { answer, frames } = await stream(model, bedrock);
      expect(answer.headers.get("content-type")).toBe("application/vnd.amazon.eventstream");
      const events = frames.map(({ payload }) => payload.type).filter((type) => type !== "ping");
      expect([events[0], events.at(-1)]).toEqual(["message_start", "message_stop"]);
      expect(events).toContain("content_block_delta");
      expect(new Set(frames.map(({ type }) => type))).toEqual(new Set(["chunk"]));
      expect((await gateway.entries())[0]).toMatchObject({
        stream: true,
        outcome: "succeeded",
        usageSource: "upstream",
      });
    },
  );

  test("forwards betas of the body in the header, and removes members that Anthropic's API does not have", async () => {
    const beta = ["context-1m-2025-08-07", "interleaved-thinking-2025-05-14"];
    const answer = await gateway.post("/model/recorded/invoke", { ...bedrock, anthropic_beta: beta });
    expect(answer.status).toBe(200);
    const sent = received.at(-1);
    expect(sent?.betas).toBe(beta.join(", "));
    expect(sent?.body).toEqual({
      model: "claude-sim-4-5",
      stream: false,
      max_tokens: 50,
      messages: bedrock.messages,
    });
  });

  test("streams frames from an upstream that ends its lines in CRLF", async () => {
    const { frames } = await stream("recorded", bedrock);
    expect(frames.map(({ payload }) => payload.type)).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  test("ends a stream that fails with an exception", async () => {
    const { frames } = await stream("claude", bedrock, { script: { tokens: 9, cut_after_events: 4 } });
    expect(frames.at(-1)?.type).toMatch(/Exception$/);
    expect(frames.at(-1)?.payload.message).toBeString();
  });

  test("answers errors as AWS does", async () => {
    const unknown = await gateway.post("/model/nothing/invoke", bedrock);
    expect([unknown.status, Object.keys((await unknown.json()) as object)]).toEqual([404, ["message"]]);
    const invalid = await gateway.post("/model/claude/invoke", { ...bedrock, anthropic_beta: "x" });
    expect([invalid.status, ((await invalid.json()) as { message: string }).message]).toEqual([
      400,
      'The parameter "anthropic_beta" must be a list of names.',
    ]);
    const other = await gateway.post("/model/claude/invoke", { ...bedrock, stream: true });
    expect(other.status).toBe(400);
  });

  test("explains how to authenticate when a request is signed", async () => {
    const headers = { authorization: "AWS4-HMAC-SHA256 Credential=AKIA/20261124/us-east-1/bedrock/aws4_request" };
    const answer = await gateway.post("/model/claude/invoke", bedrock, { headers, key: null });
    expect(answer.status).toBe(401);
    expect(((await answer.json()) as { message: string }).message).toContain("AWS_BEARER_TOKEN_BEDROCK");
  });

  test("counts tokens", async () => {
    const body = Buffer.from(JSON.stringify(bedrock)).toString("base64");
    const answer = await gateway.post("/model/claude/count-tokens", { input: { invokeModel: { body } } });
    expect(await answer.json()).toEqual({ inputTokens: expect.any(Number) });
    expect((await gateway.post("/model/claude/count-tokens", { input: {} })).status).toBe(400);
  });

  test("keeps the headers of a count, such as the warning that it is an estimate", async () => {
    const input = { invokeModel: { body: Buffer.from(JSON.stringify(bedrock)).toString("base64") } };
    const counted = await gateway.post("/model/claude/count-tokens", { input });
    expect(counted.headers.get("x-sluice-provider")).toBe("claude");
    const estimated = await gateway.post("/model/gpt/count-tokens", { input });
    expect(estimated.headers.get("x-sluice-warnings")).toContain("estimate");
    expect(await estimated.json()).toEqual({ inputTokens: expect.any(Number) });
  });

  test("counts the tokens of a compressed request", async () => {
    const body = Buffer.from(JSON.stringify(bedrock)).toString("base64");
    const packed = Bun.gzipSync(JSON.stringify({ input: { invokeModel: { body } } }));
    const headers = { "content-encoding": "gzip" };
    const answer = await gateway.post("/model/claude/count-tokens", packed, { headers });
    expect(await answer.json()).toEqual({ inputTokens: expect.any(Number) });
  });

  test("counts the tokens of a long conversation", async () => {
    const messages = [{ role: "user", content: "word ".repeat(1_000_000) }];
    const body = Buffer.from(JSON.stringify({ ...bedrock, messages })).toString("base64");
    const answer = await gateway.post("/model/claude/count-tokens", { input: { invokeModel: { body } } });
    expect(await answer.json()).toEqual({ inputTokens: expect.any(Number) });
  });

  test("charges a large body like a small one", async () => {
    const content = "word ".repeat(200_000);
    const answer = await gateway.post("/model/claude/invoke", { ...bedrock, messages: [{ role: "user", content }] });
    expect(await answer.json()).toMatchObject({ usage: { input_tokens: 200_000 } });
  });
});

describe("Claude at Google Cloud", () => {
  const path = (model: string) => `/projects/p/locations/us-east5/publishers/anthropic/models/${model}`;

  test.each(["", "/v1"])("answers below %s/projects/", async (base) => {
    const answer = await gateway.post(`${base}${path("claude@20260101")}:rawPredict`, vertex);
    expect(await answer.json()).toMatchObject({ type: "message" });
    expect((await gateway.entries())[0]).toMatchObject({ endpoint: "messages", model: "claude@20260101" });
  });

  test("streams server-sent events", async () => {
    const answer = await gateway.post(`${path("gpt")}:streamRawPredict`, { ...vertex, stream: true });
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    expect(await answer.text()).toContain("event: message_stop");
  });

  test("counts the tokens of the model in the body", async () => {
    const { max_tokens: _, ...count } = vertex;
    const answer = await gateway.post(`${path("count-tokens")}:rawPredict`, { ...count, model: "claude" });
    expect(await answer.json()).toEqual({ input_tokens: expect.any(Number) });
  });

  test("answers errors as Anthropic does", async () => {
    const answer = await gateway.post(`${path("nothing")}:rawPredict`, vertex);
    expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ type: "error" })]);
    expect((await gateway.post(`${path("claude")}:rawPredict`, vertex, { key: "wrong" })).status).toBe(401);
    expect(aliceKey).not.toBe("wrong");
  });
});
