import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { ConfigFile } from "@sluice/contract";
import type { Script, TruthRecord } from "@sluice/simulator";
import { type NativeBody, nativeBodies, type Sealed } from "./matrix/native-bodies.ts";
import { matrixConfig, matrixUpstreams, modelOn, type Upstream } from "./matrix/upstreams.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

let setup: TestSetup;
let sealed: Sealed;

beforeAll(async () => {
  setup = await openSetup((url) => withHeaders(matrixConfig(url, [])));
  sealed = await createSealedContent();
});
afterAll(() => setup?.close());

/** Forwards two extra headers, one of them unknown, and the fields that choose a model or a price. */
function withHeaders(config: ConfigFile): ConfigFile {
  const forward_headers = ["x-sim-script", "x-header-of-next-year"];
  const providers = config.providers?.map((entry) => ({
    ...entry,
    settings: { ...entry.settings, forward_headers, pass_members: ["speed", "model"] },
  }));
  return { ...config, ...(providers === undefined ? {} : { providers }) };
}

/** Headers that agents send and depend on, and some unknown ones. */
const clientHeaders: Readonly<Record<string, string>> = {
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,of-next-year-2027-01-01",
  "anthropic-dangerous-direct-browser-access": "true",
  "x-app": "cli",
  "x-stainless-lang": "js",
  "x-stainless-retry-count": "0",
  "x-stainless-timeout": "600",
  "x-claude-code-session-id": "5d1d3b1a-0000-4000-8000-000000000000",
  "x-claude-code-agent-id": "agent-1",
  "x-claude-remote-session-id": "remote-1",
  "x-client-request-id": "client-1",
  "x-anthropic-additional-protection": "true",
  "x-codex-turn-state": "turn-1",
  "x-codex-turn-metadata": '{"turn_id":"1"}',
  "openai-beta": "responses=experimental",
  session_id: "conversation-1",
  originator: "codex_cli_rs",
  "x-header-of-next-year": "kept",
  "user-agent": "claude-cli/2.1.197 (external, cli)",
};

describe.each(nativeBodies.map((entry): [string, NativeBody] => [entry.name, entry]))("%s", (_, native) => {
  test("forwards the request byte for byte, except for the model's name", async () => {
    const upstream = upstreamOf(native);
    for (const stream of native.streams ? [false, true] : [false]) {
      const body = native.body({ stream, sealed });
      const { record } = await call(native, { stream });
      const expected = body.replace("MODEL", JSON.stringify(upstream.upstreamModel).slice(1, -1));
      expect(record.body_text).toBe(expected);
      expect(record.body_sha256).toBe(sha256(Buffer.from(expected)));
    }
  });

  test("forwards every header that the vendor's clients depend on, without the caller's credential", async () => {
    const { record } = await call(native, { stream: false });
    const excluded = headersOfOtherVendors(native);
    const expected = Object.entries(clientHeaders).filter(([name]) => !excluded.test(name));
    expect(record.request_headers).toMatchObject(Object.fromEntries(expected));
    expect(Object.keys(record.request_headers).filter((name) => excluded.test(name))).toEqual([]);
    expect(JSON.stringify(record)).not.toContain(keys.main);
    expect(Object.keys(record.request_headers).filter((name) => name.startsWith("x-sluice"))).toEqual([]);
  });

  test("returns the answer byte for byte", async () => {
    for (const script of [{}, { tokens: 30 }] satisfies Script[]) {
      const { record, bytes, status } = await call(native, { stream: false, script });
      expect(status).toBe(200);
      expect(sha256(bytes)).toBe(record.reply_sha256);
    }
  });

  test("returns the upstream's refusal byte for byte", async () => {
    const { record, bytes, status } = await call(native, { stream: false, script: { status: 422 } });
    expect(status).toBe(422);
    expect(sha256(bytes)).toBe(record.reply_sha256);
  });
});

describe.each(nativeBodies.filter((entry) => entry.streams).map((entry): [string, NativeBody] => [entry.name, entry]))(
  "%s, streamed",
  (_, native) => {
    test.each([
      ["default", {}],
      ["long, with reasoning", { reasoning_tokens: 9, tokens: 60 }],
      ["with CRLF line breaks", { crlf: true }],
      ["with comments between events", { keep_alive_comments: true }],
      ["in chunks of one byte", { one_byte_chunks: true, tokens: 4 }],
      ["with an event of 300 KB", { giant_event_bytes: 300_000 }],
    ] satisfies [string, Script][])("returns the stream byte for byte: %s", async (_, script) => {
      const { record, bytes, status } = await call(native, { stream: true, script });
      expect(status).toBe(200);
      expect(record.stream).toBe(true);
      expect(record.terminal_sent).toBe(true);
      expect(sha256(bytes)).toBe(record.reply_sha256);
    });
  },
);

interface CallResult {
  readonly record: TruthRecord;
  readonly bytes: Uint8Array;
  readonly status: number;
}

async function call(
  native: NativeBody,
  options: { readonly stream: boolean; readonly script?: Script },
): Promise<CallResult> {
  await setup.simulator.clear();
  const model = modelOn(upstreamOf(native));
  const verb = options.stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const path = native.path.endsWith(":") ? `${native.path.replace("PUBLIC", model)}${verb}` : native.path;
  const answer = await fetch(setup.gateway.url + path, {
    method: "POST",
    headers: {
      ...clientHeaders,
      "content-type": "application/json",
      "x-api-key": keys.main,
      ...(options.script === undefined ? {} : { "x-sim-script": JSON.stringify(options.script) }),
    },
    body: native.body({ stream: options.stream, sealed }).replace("MODEL", model),
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const records = await setup.simulator.settled();
  const [record] = records;
  if (record === undefined) throw new Error(`nothing reached the upstream: ${Buffer.from(bytes).toString("utf8")}`);
  expect(records.length).toBe(1);
  return { record, bytes, status: answer.status };
}

/** Headers that an upstream of another vendor does not receive. */
function headersOfOtherVendors({ upstream }: NativeBody): RegExp {
  if (upstream === "chat") return /^$/;
  return upstream === "anthropic" ? /^openai-/ : /^(?:x-)?anthropic-/;
}

function upstreamOf({ upstream }: NativeBody): Upstream {
  const match = matrixUpstreams.find(({ name }) => name === upstream);
  if (match === undefined) throw new Error(`no upstream ${upstream}`);
  return match;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Lets the upstream encrypt content that it must be able to read again. */
async function createSealedContent(): Promise<Sealed> {
  const post = async (path: string, body: unknown): Promise<string> => {
    const headers = { "content-type": "application/json", "x-api-key": keys.main, "anthropic-version": "2023-06-01" };
    const answer = await fetch(setup.gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
  const model = (name: string): string => `matrix/${name}/main`;
  const reasoned = await post("/v1/responses", {
    model: model("responses"),
    input: "why",
    store: false,
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
  });
  const compacted = await post("/v1/responses/compact", { model: model("responses"), input: "why" });
  const answered = await post("/v1/messages", {
    model: model("anthropic"),
    max_tokens: 2_000,
    thinking: { type: "enabled", budget_tokens: 1_024 },
    messages: [{ role: "user", content: "why" }],
  });
  const called = await post(`/v1beta/models/${model("gemini")}:generateContent`, {
    contents: [{ role: "user", parts: [{ text: "use f" }] }],
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }],
  });
  return {
    reasoning: extract(reasoned, /"encrypted_content":"([^"]+)"/),
    compaction: extract(compacted, /"encrypted_content":"([^"]+)"/),
    signature: extract(answered, /"signature":"([^"]+)"/),
    thoughtSignature: extract(called, /"thoughtSignature":"([^"]+)"/),
  };
}

function extract(text: string, pattern: RegExp): string {
  const first = pattern.exec(text)?.[1];
  if (first === undefined) throw new Error(`no ${pattern} in ${text}`);
  return first;
}
