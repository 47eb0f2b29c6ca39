import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Sha256 } from "@aws-crypto/sha256-js";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { SignatureV4 } from "@smithy/signature-v4";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted } from "./sdk-call.ts";

const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator({ awsSecret: secret });
});
afterAll(() => running.stop());

interface Call {
  readonly path: string;
  readonly body: unknown;
  readonly script?: Script;
  readonly secret?: string;
}

async function signedCall(call: Call): Promise<Response> {
  const body = JSON.stringify(call.body);
  const signer = new SignatureV4({
    service: "bedrock",
    region: "us-east-1",
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: call.secret ?? secret, sessionToken: "session" },
    sha256: Sha256,
  });
  const hostname = "127.0.0.1";
  const request = await signer.sign({
    method: "POST",
    protocol: "http:",
    hostname,
    port: running.port,
    path: call.path,
    query: {},
    headers: { host: `${hostname}:${running.port}`, "content-type": "application/json" },
    body,
  });
  const headers = { ...request.headers, ...scripted(call.script ?? {}).headers };
  return fetch(`http://${hostname}:${running.port}${call.path}`, { method: "POST", headers, body });
}

interface Frame {
  readonly type: unknown;
  readonly kind: unknown;
  readonly payload: Record<string, unknown>;
}

/** Decodes every frame; the decoder verifies the checksums. */
async function framesOf(answer: Response): Promise<Frame[]> {
  const toUtf8 = (bytes: Uint8Array | string): string =>
    typeof bytes === "string" ? bytes : Buffer.from(bytes).toString();
  const codec = new EventStreamCodec(toUtf8, (text) => Buffer.from(text));
  const bytes = Buffer.from(await answer.arrayBuffer());
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const { headers, body } = codec.decode(bytes.subarray(at, at + length));
    const type = headers[":event-type"]?.value ?? headers[":exception-type"]?.value;
    frames.push({ type, kind: headers[":message-type"]?.value, payload: JSON.parse(toUtf8(body)) });
    at += length;
  }
  return frames;
}

const model = "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0";
const claude = {
  anthropic_version: "bedrock-2023-05-31",
  anthropic_beta: ["context-1m-2025-08-07"],
  max_tokens: 100,
  messages: [{ role: "user", content: "one two" }],
};
const converse = {
  messages: [{ role: "user", content: [{ text: "one two" }] }],
  system: [{ text: "be brief" }],
  inferenceConfig: { maxTokens: 100 },
};
const toolConfig = {
  tools: [
    {
      toolSpec: {
        name: "get_weather",
        inputSchema: { json: { type: "object", properties: { city: { type: "string" } } } },
      },
    },
    { toolSpec: { name: "get_time", inputSchema: { json: { type: "object" } } } },
  ],
};

describe("a signature", () => {
  test("is accepted if valid, also for a path with encoded colons and slashes", async () => {
    expect((await signedCall({ path: `/model/${model}/invoke`, body: claude })).status).toBe(200);
    expect(await lastRecord(running)).toMatchObject({
      signature_verified: true,
      dialect: "bedrock-invoke",
      model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    });
    const arn = "arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx";
    expect((await signedCall({ path: `/model/${arn}/converse`, body: converse })).status).toBe(200);
    expect(JSON.stringify(await lastRecord(running))).not.toContain("session");
  });

  test("is refused in AWS's format if missing or made with a wrong secret; an API key needs none", async () => {
    const wrong = await signedCall({ path: `/model/${model}/invoke`, body: claude, secret: "other" });
    expect(wrong.status).toBe(403);
    expect(wrong.headers.get("x-amzn-errortype")).toBe("InvalidSignatureException");
    expect(await lastRecord(running)).toMatchObject({ signature_verified: false });
    const url = `http://127.0.0.1:${running.port}/model/${model}/invoke`;
    const unsigned = await fetch(url, { method: "POST", body: JSON.stringify(claude) });
    expect(unsigned.status).toBe(403);
    expect(await unsigned.json()).toEqual({ message: "Missing Authentication Token" });
    const headers = { authorization: "Bearer bedrock-api-key-x" };
    expect((await fetch(url, { method: "POST", headers, body: JSON.stringify(claude) })).status).toBe(200);
  });
});

describe("invoke", () => {
  test("returns a Message, with its counts also in the headers", async () => {
    const answer = await signedCall({
      path: `/model/${model}/invoke`,
      body: claude,
      script: { tokens: 3, cached_tokens: 1 },
    });
    expect(await answer.json()).toMatchObject({ type: "message", usage: { input_tokens: 1, output_tokens: 3 } });
    expect(answer.headers.get("x-amzn-bedrock-output-token-count")).toBe("3");
    expect(answer.headers.get("x-amzn-bedrock-cache-read-input-token-count")).toBe("1");
  });

  test("streams frames that contain the events of Messages, with metrics in the last one", async () => {
    const answer = await signedCall({
      path: `/model/${model}/invoke-with-response-stream`,
      body: claude,
      script: { tokens: 2 },
    });
    expect(answer.headers.get("content-type")).toBe("application/vnd.amazon.eventstream");
    const frames = await framesOf(answer);
    expect(new Set(frames.map((frame) => [frame.kind, frame.type].join()))).toEqual(new Set(["event,chunk"]));
    const events = frames.map((frame) => JSON.parse(Buffer.from(String(frame.payload["bytes"]), "base64").toString()));
    expect(events.map((event) => event.type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events.at(-1)["amazon-bedrock-invocationMetrics"]).toMatchObject({
      inputTokenCount: 2,
      outputTokenCount: 2,
    });
    expect(await lastRecord(running)).toMatchObject({
      output_tokens_emitted: 2,
      terminal_sent: true,
      usage_sent: true,
    });
  });

  test("refuses a body with model or stream, or with Anthropic's own version", async () => {
    const path = `/model/${model}/invoke`;
    const statuses = [];
    for (const body of [
      { ...claude, model: "m" },
      { ...claude, stream: true },
      { ...claude, anthropic_version: "2023-06-01" },
    ]) {
      const answer = await signedCall({ path, body });
      statuses.push([answer.status, answer.headers.get("x-amzn-errortype")]);
    }
    expect(statuses).toEqual(Array(3).fill([400, "ValidationException"]));
  });
});

describe("converse", () => {
  test("returns input counts that do not overlap", async () => {
    const script = { tokens: 3, cached_tokens: 1, cache_write_1h_tokens: 2 };
    const answer = await signedCall({ path: `/model/${model}/converse`, body: converse, script });
    expect(await answer.json()).toEqual({
      metrics: { latencyMs: 1 },
      output: { message: { role: "assistant", content: [{ text: " the quick brown" }] } },
      stopReason: "end_turn",
      usage: {
        inputTokens: 1,
        outputTokens: 3,
        totalTokens: 7,
        cacheReadInputTokens: 1,
        cacheWriteInputTokens: 2,
        cacheDetails: [{ ttl: "1h", inputTokens: 2 }],
      },
    });
  });

  test("streams thinking and parallel calls with the usage after the stop, and accepts their results and signatures", async () => {
    const body = { ...converse, toolConfig, additionalModelRequestFields: { thinking: { type: "adaptive" } } };
    const script = { tool_calls: 2 };
    const frames = await framesOf(await signedCall({ path: `/model/${model}/converse-stream`, body, script }));
    const types = frames.map((frame) => frame.type);
    expect(types.slice(0, 2)).toEqual(["messageStart", "contentBlockDelta"]);
    expect(types.slice(-2)).toEqual(["messageStop", "metadata"]);
    expect(types.filter((type) => type === "contentBlockStart").length).toBe(2);
    expect(frames.at(-2)?.payload).toMatchObject({ stopReason: "tool_use" });

    const whole = await signedCall({ path: `/model/${model}/converse`, body, script });
    const { output } = (await whole.json()) as {
      output: { message: { content: Record<string, { toolUseId?: string }>[] } };
    };
    const results = output.message.content
      .flatMap((block) => block["toolUse"]?.toolUseId ?? [])
      .map((toolUseId) => ({ toolResult: { toolUseId, content: [{ text: "sunny" }] } }));
    expect(results.length).toBe(2);
    const messages = [...converse.messages, output.message, { role: "user", content: results }];
    expect((await signedCall({ path: `/model/${model}/converse`, body: { ...body, messages } })).status).toBe(200);
    const incomplete = [...converse.messages, output.message, { role: "user", content: results.slice(1) }];
    expect(
      (await signedCall({ path: `/model/${model}/converse`, body: { ...body, messages: incomplete } })).status,
    ).toBe(400);
    const { toolConfig: _, ...withoutTools } = { ...body, messages };
    const refused = await signedCall({ path: `/model/${model}/converse`, body: withoutTools });
    expect(await refused.text()).toContain("toolConfig field must be defined");
  });

  test("sends an exception in the middle of a stream as an exception frame", async () => {
    const script = { error_event_after: 3 };
    const frames = await framesOf(
      await signedCall({ path: `/model/${model}/converse-stream`, body: converse, script }),
    );
    expect(frames.length).toBe(4);
    expect(frames.at(-1)).toMatchObject({ kind: "exception", type: "modelStreamErrorException" });
  });

  test("can send a wrong checksum, or half a frame", async () => {
    const path = `/model/${model}/converse-stream`;
    const damaged = await signedCall({ path, body: converse, script: { bad_checksum: true } });
    expect(String(await framesOf(damaged).catch(String))).toContain("checksum");
    const answer = await signedCall({ path, body: converse, script: { end_after_events: 2, half_event: true } });
    expect(await framesOf(answer).catch(() => "broken")).toBe("broken");
  });

  test.each([
    [429, "ThrottlingException"],
    [503, "ServiceUnavailableException"],
    [404, "ResourceNotFoundException"],
  ])("returns status %i as %s", async (status, type) => {
    const answer = await signedCall({ path: `/model/${model}/converse`, body: converse, script: { status } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-amzn-errortype")).toBe(type);
    expect(Object.keys((await answer.json()) as object)).toEqual(["message"]);
  });
});
