import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import { type AgentAnswer, agentCall, ofType } from "./matrix/agent-call.ts";
import { matrixConfig } from "./matrix/upstreams.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/** Sends requests exactly as Claude Code sends them to a gateway, both to Anthropic's models and to models of other vendors. */
let setup: TestSetup;

beforeAll(async () => {
  setup = await openSetup((url) => matrixConfig(url, ["limited", "long", "broken"]));
});
afterAll(() => setup?.close());

const betas =
  "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27," +
  "fine-grained-tool-streaming-2025-05-14,prompt-caching-scope-2026-01-05,effort-2025-11-24";

const headers = {
  authorization: `Bearer ${keys.main}`,
  "anthropic-version": "2023-06-01",
  "anthropic-beta": betas,
  "anthropic-dangerous-direct-browser-access": "true",
  "x-app": "cli",
  "user-agent": "claude-cli/2.1.197 (external, cli)",
  "x-claude-code-session-id": "6a0f41d8-0000-4000-8000-000000000001",
  "x-claude-code-agent-id": "agent-7",
  "x-stainless-lang": "js",
  "x-stainless-package-version": "0.94.0",
  "x-stainless-retry-count": "0",
};

const cached = { cache_control: { type: "ephemeral" } };

const tools = [
  {
    name: "Bash",
    description: "Runs a command.",
    input_schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { command: { type: "string" }, timeout: { type: "number" } },
      required: ["command"],
      additionalProperties: false,
    },
  },
  { name: "Read", description: "Reads a file.", input_schema: { type: "object", properties: {} }, ...cached },
];

function turn(model: string, messages: readonly object[], more: object = {}): object {
  return {
    model,
    max_tokens: 32_000,
    stream: true,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;" },
      { type: "text", text: "You are Claude Code.", ...cached },
    ],
    messages,
    tools,
    metadata: { user_id: JSON.stringify({ device_id: "d", account_uuid: "", session_id: "s" }) },
    thinking: { type: "adaptive" },
    output_config: { effort: "high" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    ...more,
  };
}

const post = (path: string, body: unknown, more: Record<string, string> = {}): Promise<AgentAnswer> =>
  agentCall(`${setup.gateway.url}${path}`, { headers: { ...headers, ...more }, body });

const userMessage = (text: string, script: object = {}): object => ({
  role: "user",
  content: [
    { type: "text", text: "<system-reminder>Today is Saturday.</system-reminder>" },
    { type: "text", text: `${text} [[sim ${JSON.stringify(script)}]]`, ...cached },
  ],
});

async function lastTruth(): Promise<TruthRecord> {
  const record = (await setup.simulator.settled()).at(-1);
  if (record === undefined) throw new Error("nothing reached the upstream");
  return record;
}

describe("at startup", () => {
  test("answers the HEAD request that warms up the connection", async () => {
    const answer = await agentCall(setup.gateway.url, { method: "HEAD", headers });
    expect(answer.status).toBe(200);
  });

  test("lists models in Anthropic's format, with either credential and without a redirect", async () => {
    for (const credential of [{ authorization: `Bearer ${keys.main}` }, { "x-api-key": keys.main }]) {
      const answer = await agentCall(`${setup.gateway.url}/v1/models?limit=1000`, {
        headers: { "anthropic-version": "2023-06-01", ...credential },
      });
      const { data, has_more } = answer.json() as { data: { id: string; display_name: string }[]; has_more: boolean };
      expect(has_more).toBe(false);
      expect(data.map((model) => model.id)).toContain("matrix/anthropic/main");
      expect(data.every((model) => model.display_name !== "")).toBe(true);
    }
  });

  test("returns 401 for a wrong key and 404 for an unknown model, in Anthropic's error format", async () => {
    const probe = { max_tokens: 1, messages: [{ role: "user", content: "." }] };
    const model = "matrix/anthropic/main";
    const wrongKey = { authorization: "Bearer sk-unknown-key-of-the-tests-0001" };
    const refused = await post("/v1/messages?beta=true", { model, ...probe }, wrongKey);
    expect([refused.status, refused.json()]).toMatchObject([
      401,
      { type: "error", error: { type: "authentication_error" } },
    ]);
    const unknown = await post("/v1/messages?beta=true", { model: "claude-none", ...probe });
    expect([unknown.status, unknown.json()]).toMatchObject([
      404,
      { type: "error", error: { type: "not_found_error" } },
    ]);
  });
});

const upstreams = [
  "anthropic",
  "bedrock-claude",
  "vertex-claude",
  "responses",
  "azure",
  "chat",
  "ark",
  "gemini",
  "bedrock-nova",
];
const messagesUpstreams = ["anthropic", "bedrock-claude", "vertex-claude"];

describe.each(upstreams)("on %s", (upstream) => {
  const model = `matrix/${upstream}/main`;

  test("answers probes with a limit of one token", async () => {
    const probes = [
      { messages: [{ role: "user", content: "quota" }], metadata: { user_id: "{}" } },
      { messages: [{ role: "user", content: "test" }], temperature: 1 },
      { messages: [{ role: "user", content: [{ type: "text", text: ".", ...cached }] }] },
    ];
    for (const probe of probes) {
      const answer = await post("/v1/messages?beta=true", { model, max_tokens: 1, ...probe });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json()).toMatchObject({ type: "message", stop_reason: "max_tokens" });
      // Responses accepts no limit below 16.
      const { output_tokens: output } = answer.json()["usage"] as { output_tokens: number };
      expect(output).toBe(["responses", "azure"].includes(upstream) ? 16 : 1);
    }
  });

  test("tokens are counted, or estimated with a warning", async () => {
    const body = { model, messages: [{ role: "user", content: "one two three four" }], tools };
    const answer = await post("/v1/messages/count_tokens?beta=true", body);
    const { input_tokens: counted } = answer.json();
    expect(counted).toBeGreaterThan(0);
    if (["anthropic", "vertex-claude"].includes(upstream)) expect(counted).toBe(4);
    else expect(answer.headers.get("x-sluice-warnings")).toContain("estimate");
  });

  test("streams a turn with thinking and a tool call, accepts both in the next turn, and then streams text", async () => {
    const message = userMessage("use Bash now", { tokens: 3, reasoning_field: "reasoning_content", cached_tokens: 2 });
    const first = await post("/v1/messages?beta=true", turn(model, [message]));
    expect(first.status, first.text).toBe(200);
    expect(first.events[0]?.type).toBe("message_start");
    expect(first.events.at(-1)?.type).toBe("message_stop");
    const blocks = blocksOf(first);
    const call = blocks.find((block) => block["type"] === "tool_use");
    expect(call).toMatchObject({ name: "Bash", input: { timeout: 1 } });
    expect(ofType(first, "message_delta")[0]).toMatchObject({ delta: { stop_reason: "tool_use" } });

    const results = [{ type: "tool_result", tool_use_id: call?.["id"], content: "done", is_error: false, ...cached }];
    const history = [message, { role: "assistant", content: blocks }, { role: "user", content: results }];
    const second = await post("/v1/messages?beta=true", turn(model, history));
    expect(second.status, second.text).toBe(200);
    expect(blocksOf(second).at(-1)).toMatchObject({ type: "text", text: " the quick brown" });
    const usage = ofType(second, "message_delta")[0]?.["usage"] as { output_tokens: number };
    expect(usage.output_tokens).toBeGreaterThanOrEqual(3);
  });

  test("sends Anthropic's betas, headers and fields to Anthropic and to no other vendor", async () => {
    await post("/v1/messages?beta=true", turn(model, [userMessage("hi", { tokens: 1 })]));
    const { request_headers: seen, query, body_text: body = "" } = await lastTruth();
    if (upstream === "anthropic") {
      const { authorization: _omitted, ...rest } = headers;
      expect(seen).toMatchObject(rest);
      expect(query).toBe("beta=true");
    }
    // Bedrock refuses a call with an unknown beta.
    if (upstream === "bedrock-claude") {
      const supported = ["interleaved-thinking-2025-05-14", "context-management-2025-06-27"];
      expect(JSON.parse(body).anthropic_beta).toEqual(expect.arrayContaining(supported));
    }
    if (messagesUpstreams.includes(upstream)) {
      expect(JSON.parse(body)).toMatchObject({ context_management: { edits: [{ keep: "all" }] } });
      return;
    }
    expect(Object.keys(seen).filter((name) => /^(anthropic-|x-claude-|x-app|x-stainless-)/.test(name))).toEqual([]);
    expect(query).not.toContain("beta");
    expect(body).not.toMatch(/context_management|cache_control|anthropic_beta/);
    expect(body).toContain("You are Claude Code.");
  });

  test("reports a prompt that is too long with the message that Claude Code recognizes", async () => {
    const script = { status: 400, body: tooLong[upstream] ?? openAiTooLong };
    const answer = await post("/v1/messages?beta=true", turn(`matrix/${upstream}/long`, [userMessage("hi", script)]));
    expect(answer.status).toBe(400);
    const { type, error } = answer.json() as { type: string; error: { type: string; message: string } };
    expect([type, error.type]).toEqual(["error", "invalid_request_error"]);
    expect(error.message).toMatch(/prompt is too long/i);
  });

  test("rate limits and server errors keep their status, in Anthropic's error format", async () => {
    const limited = userMessage("hi", { status: 429, retry_after: 900 });
    const slow = await post("/v1/messages?beta=true", turn(`matrix/${upstream}/limited`, [limited]));
    expect([slow.status, slow.json()]).toMatchObject([429, { type: "error", error: { type: "rate_limit_error" } }]);
    expect(Number(slow.headers.get("retry-after"))).toBeGreaterThan(800);
    const broken = await post(
      "/v1/messages?beta=true",
      turn(`matrix/${upstream}/broken`, [userMessage("hi", { status: 500 })]),
    );
    expect(broken.status).toBeGreaterThanOrEqual(500);
    expect(broken.json()).toMatchObject({ type: "error", error: { type: "api_error" } });
  });
});

const openAiTooLong = {
  error: {
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    type: "invalid_request_error",
    param: "input",
    code: "context_length_exceeded",
  },
};
const anthropicTooLong = {
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 205000 tokens > 200000 maximum" },
};
const bedrockTooLong = { message: "The model returned the following errors: Input is too long for requested model." };

/** How each vendor's error reads when a prompt is too long. */
const tooLong: Readonly<Record<string, object>> = {
  anthropic: anthropicTooLong,
  "vertex-claude": anthropicTooLong,
  "bedrock-claude": bedrockTooLong,
  "bedrock-nova": bedrockTooLong,
  gemini: {
    error: {
      code: 400,
      message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      status: "INVALID_ARGUMENT",
    },
  },
};

/** Assembles the content blocks of a stream, as the client does. */
function blocksOf(answer: AgentAnswer): readonly Record<string, unknown>[] {
  const blocks: Record<string, unknown>[] = [];
  let json = "";
  for (const event of answer.events) {
    const index = event["index"] as number;
    if (event.type === "content_block_start") {
      expect(index).toBe(blocks.length);
      blocks.push({ ...(event["content_block"] as object) });
      json = "";
    }
    const block = blocks[index];
    if (event.type === "content_block_delta" && block !== undefined) {
      const delta = event["delta"] as Record<string, string>;
      if (delta["type"] === "text_delta") block["text"] = `${block["text"]}${delta["text"]}`;
      if (delta["type"] === "thinking_delta") block["thinking"] = `${block["thinking"]}${delta["thinking"]}`;
      if (delta["type"] === "signature_delta") block["signature"] = delta["signature"];
      if (delta["type"] === "input_json_delta") json += delta["partial_json"];
    }
    if (event.type === "content_block_stop" && block?.["type"] === "tool_use") {
      block["input"] = json === "" ? {} : JSON.parse(json);
    }
  }
  return blocks;
}
