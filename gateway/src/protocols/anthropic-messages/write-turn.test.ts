import { describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import { Failure, type Turn, type TurnMessage, type TurnPart } from "#core/index.ts";
import type { DialectTraits } from "../codec.ts";
import { anthropicMessagesCodec as codec } from "./index.ts";
import { thinksAdaptively } from "./write-thinking.ts";

const decoder = new TextDecoder();

const text = (said: string): TurnPart & { kind: "text" } => ({ kind: "text", text: said, cache: null });
const user = (...parts: TurnPart[]): TurnMessage => ({ role: "user", parts });
const assistant = (...parts: TurnPart[]): TurnMessage => ({ role: "assistant", parts });
const call = (id: string, argumentsText = "{}"): TurnPart => ({
  ...{ kind: "tool-call", id, name: "look", argumentsText, seal: null, cache: null },
});
const result = (callId: string, said = "found"): TurnPart => ({
  ...{ kind: "tool-result", callId, name: null, parts: [text(said)], isError: false, cache: null },
});
const thought = (data: string, account: string | null = "acme"): TurnPart => ({
  ...{ kind: "reasoning", text: "hm", redacted: false },
  seal: { dialect: "anthropic-messages", account, data, itemId: null },
});
const tool = { name: "look", description: null, parameters: null, strict: null, cache: null };

const plain: Turn = {
  ...{ stream: false, system: [], messages: [user(text("Hi"))], tools: [], toolChoice: null, parallelToolCalls: null },
  ...{
    outputTokensMax: null,
    temperature: null,
    topP: null,
    topK: null,
    presencePenalty: null,
    frequencyPenalty: null,
  },
  ...{ seed: null, stop: [], choices: 1, format: null, reasoning: null, verbosity: null, userId: null, metadata: null },
  ...{ cacheKey: null, serviceTier: null },
};

interface Written {
  readonly body: Anthropic.MessageCreateParams & { temperature?: number; top_p?: number; top_k?: number };
  readonly warnings: readonly string[];
}

function write(turn: Partial<Turn>, traits: DialectTraits = {}, upstreamModel = "claude-sonnet-4-5"): Written {
  const warnings: string[] = [];
  const target = { upstreamModel, account: "acme", traits, newId: (prefix: string) => `${prefix}1` };
  const bytes = codec.writeTurn({ ...plain, ...turn }, target, (what) => warnings.push(what));
  return { body: JSON.parse(decoder.decode(bytes)), warnings };
}

function refusal(turn: Partial<Turn>, traits: DialectTraits = {}): unknown {
  try {
    write(turn, traits);
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param, retry: thrown.retry };
    throw thrown;
  }
  return null;
}

describe("writing a request for Anthropic", () => {
  test("sets max_tokens if the caller set no limit", () => {
    expect(write({}).body).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 8_192,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
    expect(write({}, { outputTokensDefault: 4_000 }).body.max_tokens).toBe(4_000);
  });

  test.each([
    ["temperature above one is lowered", { temperature: 1.7 }, { temperature: 1 }, "temperature"],
    ["penalties, a seed and verbosity are left out", { seed: 0, verbosity: "low" }, {}, "seed"],
    ["stop sequences of white space are left out", { stop: ["\n", "END"] }, { stop_sequences: ["END"] }, "stop"],
    ["of temperature and top_p one is sent", { temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }, "top_p"],
    ["an unknown service tier is left out", { serviceTier: "flex" }, {}, "tier"],
    ["a user id that is too long is left out", { userId: "u".repeat(600) }, {}, "user id"],
  ])("%s, with a warning", (_, turn, sent, warning) => {
    const { body, warnings } = write(turn);
    expect(body).toEqual({ ...write({}).body, ...sent });
    expect(warnings.join()).toContain(warning);
  });

  test.each([
    ["a top_p of one", { temperature: 0.5, topP: 1 }, { temperature: 0.5 }],
    ["a default temperature together with top_p", { temperature: 1, topP: 0.5 }, { top_p: 0.5 }],
    ["penalties of zero", { presencePenalty: 0, frequencyPenalty: 0, verbosity: "medium" }, {}],
    ["a cache key", { cacheKey: "k", metadata: { team: "blue" } }, {}],
  ])("drops %s without a warning", (_, turn, sent) => {
    const { body, warnings } = write(turn);
    expect(body).toEqual({ ...write({}).body, ...sent });
    expect(warnings).toEqual([]);
  });

  test("drops sampling if the upstream does not accept it", () => {
    const { body, warnings } = write({ temperature: 0.2, topK: 5 }, { refusesSampling: true });
    expect(body).toEqual(write({}).body);
    expect(warnings).toHaveLength(1);
  });

  test("requests JSON in the instructions, and a schema where it is not supported", () => {
    const json = write({ format: { kind: "json" } });
    expect(JSON.stringify(json.body.system)).toContain("JSON object");
    expect(json.warnings).toHaveLength(1);
    const schema = { type: "object", properties: { city: { type: "string" } }, additionalProperties: false };
    const format = { kind: "schema" as const, name: "place", description: null, schema, strict: true };
    expect(write({ format }).body.output_config).toEqual({ format: { type: "json_schema", schema } });
    const unenforced = write({ format }, { noSchemaOutput: true });
    expect(unenforced.body.output_config).toBeUndefined();
    expect(JSON.stringify(unenforced.body.system)).toContain("city");
    expect(unenforced.warnings).toHaveLength(1);
  });

  test("sets additionalProperties to false in a schema, with a warning", () => {
    const item = { type: "object", properties: { name: { type: "string" } } };
    const schema = { type: "object", properties: { items: { type: "array", items: item } } };
    const { body, warnings } = write({
      format: { kind: "schema", name: null, description: null, schema, strict: null },
    });
    expect(body.output_config?.format?.schema).toEqual({
      type: "object",
      properties: { items: { type: "array", items: { ...item, additionalProperties: false } } },
      additionalProperties: false,
    });
    expect(warnings).toHaveLength(1);
  });

  test.each([
    ["more than one answer", { choices: 2 }, "n"],
    [
      "a sound",
      { messages: [user({ ...media("audio"), source: { kind: "base64", mediaType: "audio/wav", data: "" } })] },
      "messages",
    ],
    [
      "another vendor's file",
      { messages: [user({ ...media("document"), source: { kind: "file", id: "file-1", dialect: "openai-chat" } })] },
      "messages",
    ],
    [
      "a picture that no model of it reads",
      { messages: [user({ ...media("image"), source: { kind: "base64", mediaType: "image/heic", data: "" } })] },
      "messages",
    ],
  ])("rejects %s, so that another deployment is tried", (_, turn, param) => {
    expect(refusal(turn as Partial<Turn>)).toEqual({ code: "unsupported_by_model", param, retry: "other" });
  });

  test("sends picture URLs only if the upstream downloads them", () => {
    const messages = [
      user({ ...media("image"), source: { kind: "url", url: "https://x.test/a.png", mediaType: null } }),
    ];
    expect(write({ messages }).body.messages[0]?.content).toEqual([
      { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
    ]);
    expect(refusal({ messages }, { fetchesUrls: false })).toMatchObject({ code: "unsupported_by_model" });
  });

  test("writes a text file as a text document", () => {
    const data = Buffer.from("Grüße").toString("base64");
    const source = { kind: "base64" as const, mediaType: "text/csv", data };
    const messages = [user({ ...media("document"), source, name: "a.csv" })];
    expect(write({ messages }).body.messages[0]?.content).toEqual([
      { type: "document", source: { type: "text", media_type: "text/plain", data: "Grüße" }, title: "a.csv" },
    ]);
  });
});

function media(
  kind: "image" | "document" | "audio",
): Omit<TurnPart & { kind: "image" }, "source" | "kind"> & { kind: "image" } {
  return { kind: kind as "image", name: null, detail: null, cache: null };
}

describe("tools", () => {
  const choice = (turn: Partial<Turn>): unknown => write({ tools: [tool], ...turn }).body.tool_choice;

  test("disables parallel calls in the tool choice", () => {
    expect(choice({ parallelToolCalls: false })).toEqual({ type: "auto", disable_parallel_tool_use: true });
    expect(choice({ parallelToolCalls: false, toolChoice: { kind: "any" } })).toMatchObject({ type: "any" });
    expect(choice({ parallelToolCalls: true })).toBeUndefined();
    expect(choice({ toolChoice: { kind: "none" }, parallelToolCalls: false })).toEqual({ type: "none" });
    expect(write({ parallelToolCalls: false }).body.tool_choice).toBeUndefined();
  });

  test("writes an empty object schema for a tool without parameters", () => {
    const { tools } = write({ tools: [tool] }).body;
    expect(tools?.[0]).toMatchObject({ name: "look", input_schema: { type: "object", properties: {} } });
  });

  test("encodes names and ids that Anthropic does not accept so that they can be restored", () => {
    const tools = [{ ...tool, name: "files.read_all" }];
    const { body } = write({ tools, messages: [user(text("Hi")), assistant(call("call|1")), user(result("call|1"))] });
    const [name] = (body.tools ?? []).map((one) => ("name" in one ? one.name : ""));
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
    const [, said, found] = body.messages.map((message) => message.content as { id?: string; tool_use_id?: string }[]);
    expect(said?.[0]?.id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(found?.[0]?.tool_use_id).toBe(said?.[0]?.id);
    const answer = { content: [{ type: "tool_use", id: "toolu_1", name, input: {} }], stop_reason: "tool_use" };
    const source = { account: "acme", newId: (prefix: string) => prefix, warn: () => {} };
    const read = codec.readAnswer(new TextEncoder().encode(JSON.stringify(answer)), source);
    expect(read.blocks[0]).toMatchObject({ name: "files.read_all" });
  });

  test("wraps arguments that are not a JSON object, with a warning", () => {
    const messages = [user(text("Hi")), assistant(call("a", "{oops")), user(result("a"))];
    const { body, warnings } = write({ tools: [tool], messages });
    expect(body.messages[1]?.content).toMatchObject([{ type: "tool_use", input: { _raw: "{oops" } }]);
    expect(warnings).toHaveLength(1);
  });

  test("answers a call without a result with an error, and writes a result without a call as text", () => {
    const messages = [user(text("Hi")), assistant(call("a"), call("b")), user(text("well"), result("b"), result("c"))];
    const { body, warnings } = write({ tools: [tool], messages });
    expect(body.messages[2]?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "a", is_error: true },
      { type: "tool_result", tool_use_id: "b", content: "found" },
      { type: "text", text: "well" },
      { type: "text", text: "Result of a tool: found" },
    ]);
    expect(warnings).toHaveLength(2);
  });

  test("declares tools of earlier calls, and forbids calling them", () => {
    const { body } = write({ messages: [user(text("Hi")), assistant(call("a")), user(result("a"))] });
    expect(body.tools).toMatchObject([{ name: "look" }]);
    expect(body.tool_choice).toEqual({ type: "none" });
  });
});

describe("thinking", () => {
  const requested = (
    effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null,
    budgetTokens: number | null = null,
  ) => ({
    reasoning: { effort, budgetTokens, visible: true },
  });

  test.each([
    ["minimal", 1_024],
    ["low", 4_096],
    ["medium", 8_192],
    ["high", 16_384],
    ["xhigh", 32_768],
  ] as const)("writes the effort %s as a budget of %d tokens, below max_tokens", (effort, budget) => {
    const { body, warnings } = write(requested(effort));
    expect(body.thinking).toEqual({ type: "enabled", budget_tokens: budget });
    expect(body.max_tokens).toBeGreaterThan(budget);
    expect(warnings).toEqual([]);
  });

  test.each([
    [20_000, { max_tokens: 20_000, thinking: { type: "enabled", budget_tokens: 16_384 } }, null],
    [10_000, { max_tokens: 10_000, thinking: { type: "enabled", budget_tokens: 7_500 } }, "budget"],
    [1_100, { max_tokens: 1_100, thinking: { type: "enabled", budget_tokens: 1_024 } }, "budget"],
    [500, { max_tokens: 1_524, thinking: { type: "enabled", budget_tokens: 1_024 } }, "max_tokens"],
  ])("keeps the caller's limit of %d if the smallest budget fits", (outputTokensMax, sent, warning) => {
    const { body, warnings } = write({ ...requested("high"), outputTokensMax });
    expect(body).toMatchObject(sent);
    if (warning === null) expect(warnings).toEqual([]);
    else expect(warnings.join()).toContain(warning);
  });

  test("disables thinking for the effort none or a budget of zero", () => {
    expect(write(requested("none")).body.thinking).toEqual({ type: "disabled" });
    expect(write(requested(null, 0)).body.thinking).toEqual({ type: "disabled" });
  });

  test.each([
    ["claude-3-7-sonnet-20250219", false],
    ["claude-sonnet-4-20250514", false],
    ["claude-opus-4-1@20250805", false],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", false],
    ["claude-opus-4-6", true],
    ["anthropic/claude-opus-4.8", true],
    ["claude-haiku-5-5", true],
    ["claude-mythos-preview", true],
    ["kimi-k2-thinking", false],
  ])("sends effort instead of a budget to %s: %p", (model, adaptive) => {
    expect(thinksAdaptively(model)).toBe(adaptive);
    const { body } = write(requested("minimal"), {}, model);
    if (!adaptive) expect(body.thinking).toMatchObject({ type: "enabled" });
    else expect(body).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "low" } });
  });

  test.each([
    ["a tool call is forced", { tools: [tool], toolChoice: { kind: "any" } }],
    ["the current tool loop has no thinking", { tools: [tool], messages: loop([]) }],
    ["the conversation ends with the assistant", { messages: [user(text("Hi")), assistant(text("Well, "))] }],
  ])("disables thinking if %s, with a warning", (_, turn) => {
    const { body, warnings } = write({ ...(turn as Partial<Turn>), ...requested("low") });
    expect(body.thinking).toEqual({ type: "disabled" });
    expect(JSON.stringify(body.messages)).not.toContain('"signature"');
    expect(warnings.join()).toContain("thinking was disabled");
  });

  test("keeps thinking enabled if only an older tool loop has none", () => {
    expect(write({ tools: [tool], messages: loop([thought("sig")]), ...requested("low") }).body).toMatchObject({
      thinking: { type: "enabled" },
      messages: [{}, { content: [{ type: "thinking", thinking: "hm", signature: "sig" }, {}] }, {}],
    });
    const older = [...loop([]), assistant(text("Found.")), user(text("And now?"))];
    expect(write({ tools: [tool], messages: older, ...requested("low") }).body.thinking).toMatchObject({
      type: "enabled",
    });
  });

  test("drops sampling with a warning, unless it is the default", () => {
    const { body, warnings } = write({ ...requested("low"), temperature: 0.3 });
    expect(body.temperature).toBeUndefined();
    expect(warnings).toHaveLength(1);
    expect(write({ ...requested("low"), temperature: 1 }).warnings).toEqual([]);
  });

  test("drops thinking of other accounts and vendors", () => {
    const foreign: TurnPart = {
      ...{ kind: "reasoning", text: "secret thought", redacted: false },
      seal: { dialect: "openai-responses", account: "acme", data: "sealed", itemId: "rs_1" },
    };
    const messages = [user(text("Hi")), assistant(thought("sig", "other"), foreign, text("Yes.")), user(text("So?"))];
    const sent = JSON.stringify(write({ messages }).body);
    expect(sent).not.toContain("sig");
    expect(sent).not.toContain("secret thought");
    expect(sent).not.toContain("sealed");
  });
});

function loop(thoughts: TurnPart[]): TurnMessage[] {
  return [user(text("Hi")), assistant(...thoughts, call("a")), user(result("a"))];
}

describe("the conversation", () => {
  test("starts with a user message, alternates roles and drops empty text", () => {
    const messages = [assistant(text("Welcome.")), user(text("")), user(text("A"), text("B")), assistant(text("C  "))];
    const { body, warnings } = write({ messages });
    expect(body.messages.map((message): string => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect<unknown>(body.messages.slice(2)).toEqual([
      { role: "user", content: [text2("A"), text2("B")] },
      { role: "assistant", content: [text2("C")] },
    ]);
    expect(warnings).toHaveLength(1);
  });

  test("turns leading system messages into instructions and later ones into user text", () => {
    const system = (said: string): TurnMessage => ({ role: "system", parts: [text(said)] });
    const messages = [system("one"), user(text("Hi")), assistant(text("Yes?")), system("two"), user(text("So."))];
    const { body, warnings } = write({ system: [text("zero")], messages });
    expect(body.system).toMatchObject([{ text: "zero" }, { text: "one" }]);
    expect(body.messages[2]).toMatchObject({ role: "user", content: [{ text: "two" }, { text: "So." }] });
    expect(warnings).toHaveLength(1);
  });

  test("sends instructions as a user message if there is no other, and rejects an empty conversation", () => {
    expect(write({ system: [text("Write a poem.")], messages: [] }).body).toMatchObject({
      messages: [{ role: "user", content: [{ text: "Write a poem." }] }],
    });
    expect(refusal({ messages: [user(text(" "))] })).toMatchObject({ code: "invalid_request", param: "messages" });
  });
});

const text2 = (said: string) => ({ type: "text", text: said });
