import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ModelConfig } from "@sluice/contract";
import type { Script } from "@sluice/simulator";
import { isObject, objectOf } from "#protocols/index.ts";
import { startRawUpstream } from "../raw-upstream.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type CallerCase, callerCases, dialectGateway, type UpstreamCase, upstreamCases } from "./dialect-fixture.ts";

const statuses = [400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 501, 503, 504, 529];

/** Error bodies of upstreams and of the proxies in front of them. */
const bodies: Readonly<Record<string, (status: number) => string>> = {
  openai: () => '{"error":{"message":"not so","type":"invalid_request_error","param":null,"code":"odd"}}',
  anthropic: () => '{"type":"error","error":{"type":"invalid_request_error","message":"not so"},"request_id":"req_1"}',
  google: (code) => JSON.stringify({ error: { code, message: "not so", status: "INVALID_ARGUMENT" } }),
  "a list of one": (code) => JSON.stringify([{ error: { code, message: "not so", status: "INVALID_ARGUMENT" } }]),
  aws: () => '{"message":"not so"}',
  mistral: () => '{"object":"error","message":"not so","type":"invalid_request_error","code":"1500"}',
  fastapi: () => '{"detail":[{"loc":["body","x"],"msg":"not so"}]}',
  "a text": () => '{"error":"not so"}',
  html: () => "<html><body>413 Request Entity Too Large</body></html>",
  nothing: () => "",
};

const vertex = (id: string, upstreamModel: string, dialect: UpstreamCase["dialect"]): UpstreamCase => ({
  id,
  dialect,
  upstreamModel,
  provider: (simulator) =>
    upstream(id, simulator, {
      kind: "vertex",
      base_url: new URL(simulator.url).origin,
      api_key: "ya29.token",
      settings: { project: "proj" },
    }),
});
const cases: readonly UpstreamCase[] = [
  ...upstreamCases,
  vertex("vertex-claude", "claude-up", "anthropic-messages"),
  vertex("vertex-gemini", "gemini-up", "gemini"),
];

/** A separate model per status, because a failed deployment is skipped for a while. */
const modelName = ({ id }: UpstreamCase, status: number | string): string => `${id}-${status}`;
const models: readonly ModelConfig[] = cases.flatMap((one) =>
  [...statuses, "stream"].map((status) => ({
    name: modelName(one, status),
    price: { input: 1, output: 10 },
    deployments: [{ provider: one.id, upstream_model: one.upstreamModel }],
  })),
);

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...dialectGateway(),
    providers: (simulator) => cases.map((one) => one.provider(simulator)),
    models: [...models],
  });
});
afterAll(() => gateway.stop());

function call(caller: CallerCase, model: string, script: Script, stream: boolean): Promise<Response> {
  return caller.call(gateway, model, { stream, text: `[[sim ${JSON.stringify(script)}]] Say hello` });
}

/** Members that the SDKs of each API require to raise a meaningful error. */
const parsesAsError: Readonly<Record<string, (body: unknown) => boolean>> = {
  chat: isOpenAi,
  responses: isOpenAi,
  messages: (body) => {
    const { type, error } = objectOf(body);
    return type === "error" && isText(objectOf(error)["type"]) && isText(objectOf(error)["message"]);
  },
  generate: (body) => {
    const { code, status, message } = objectOf(objectOf(Array.isArray(body) ? body[0] : body)["error"]);
    return typeof code === "number" && isText(status) && isText(message);
  },
  interactions: (body) => {
    const { code, message, ...more } = objectOf(objectOf(body)["error"]);
    return isText(code) && isText(message) && Object.keys(more).length === 0;
  },
};

function isOpenAi(body: unknown): boolean {
  const error = objectOf(body)["error"];
  return isObject(error) && isText(error["message"]) && !isText(error["status"]) && objectOf(body)["type"] !== "error";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

const pairs = cases.flatMap((one) => callerCases.map((caller) => [caller.id, one.id, caller, one] as const));
const asks = statuses.flatMap((status) => Object.keys(bodies).map((shape) => ({ status, shape })));

/**
 * Reading an error depends on the upstream, and writing it on the caller: the callers of an upstream share all combinations of status
 * and format, and so do the upstreams of a caller.
 */
function asksOf(caller: CallerCase, one: UpstreamCase): typeof asks {
  const part = callerCases.indexOf(caller) + cases.indexOf(one);
  return asks.filter((_, index) => (index + Math.floor(index / callerCases.length) + part) % callerCases.length === 0);
}

describe("every upstream error becomes an error in the caller's API format", () => {
  test.each(pairs)(
    "to a caller of %s on %s, for statuses and error formats",
    async (_caller, _upstream, caller, one) => {
      const wrong: unknown[] = [];
      const ask = async ({ status, shape }: (typeof asks)[number]): Promise<void> => {
        const script = { status, body: bodies[shape]?.(status) ?? "", retry_after: 0 };
        const answer = await call(caller, modelName(one, status), script, shape === "openai");
        const text = await answer.text();
        const parsed = parse(text);
        if (answer.status < 400 || !parsesAsError[caller.id]?.(parsed))
          wrong.push([status, shape, answer.status, text]);
        else if (!answer.headers.get("content-type")?.includes("application/json")) wrong.push([status, shape, "type"]);
        else if (forwardedStatuses.has(status) && answer.status !== status) wrong.push([status, shape, answer.status]);
        else if (status === 422 && !["html", "nothing", ...unread(one)].includes(shape) && !text.includes("not so"))
          wrong.push([status, shape, text]);
      };
      await Promise.all(asksOf(caller, one).map(ask));
      expect(wrong).toEqual([]);
    },
  );
});

/** Statuses that the caller gets from any upstream. */
const forwardedStatuses: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Error formats that only OpenAI-compatible servers use. */
function unread({ dialect, id }: UpstreamCase): readonly string[] {
  const openai = dialect === "openai-chat" || dialect === "openai-responses";
  if (openai) return [];
  return id === "converse" || id === "invoke" ? ["fastapi", "a text"] : ["aws", "mistral", "fastapi", "a text"];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

describe("a failure in mid-stream", () => {
  test.each(pairs)("is an error event to a caller of %s on %s", async (_caller, _upstream, caller, one) => {
    const script: Script = { tokens: 6, event_ms: 2, error_event_after: 5 };
    const text = await (await call(caller, modelName(one, "stream"), script, true)).text();
    expect([caller.goodEnd.test(text), caller.errorEvent.test(text)]).toEqual([false, true]);
  });
});

test("an error with an unusual format in a Claude stream reaches a Messages caller as a Messages error", async () => {
  const begun = [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3,"output_tokens":1}}}',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}',
  ];
  const strange = 'data: {"error":{"code":503,"message":"not so","status":"UNAVAILABLE"}}\n\n';
  const read = Promise.withResolvers<void>();
  const raw = await startRawUpstream((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
    socket.write(begun.map((event) => `${event}\n\n`).join(""));
    void read.promise.then(() => socket.end(strange));
  });
  const other = await startGateway({
    providers: () => [
      { id: "raw", kind: "anthropic", base_url: raw.url, api_key: "sk-test-of-raw", allow_private_network: true },
    ],
    models: [
      { name: "claude", price: { input: 1, output: 10 }, deployments: [{ provider: "raw", upstream_model: "c" }] },
    ],
  });
  try {
    const body = { model: "claude", max_tokens: 9, stream: true, messages: [{ role: "user", content: "hi" }] };
    const answer = await other.post("/v1/messages", body, { headers: { "anthropic-version": "2023-06-01" } });
    let text = "";
    for await (const piece of answer.body ?? []) {
      text += new TextDecoder().decode(piece);
      read.resolve();
    }
    const last = text.trimEnd().split("\n\n").at(-1) ?? "";
    expect(last).toStartWith("event: error\ndata: {");
    expect(parsesAsError["messages"]?.(parse(last.slice(last.indexOf("{"))))).toBe(true);
    expect(last).toContain("not so");
    expect((await other.entries())[0]?.outcome).toBe("failed");
  } finally {
    await other.stop();
    raw.stop();
  }
});
