import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AnswerEvent, Failure, type Turn, type TurnPart } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { bedrockConverse, bedrockConverseCodec, bedrockErrors } from "./index.ts";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const source = { account: "aws-1", newId: (prefix: string) => `${prefix}1`, warn: () => {} };
const target = { upstreamModel: "meta.llama3-70b-instruct-v1:0", account: "aws-1", traits: {}, newId: source.newId };

const silent: Turn = {
  ...silentTurn,
};
const says = (text: string): TurnPart => ({ kind: "text", text, cache: null });
const user = (...parts: readonly TurnPart[]) => ({ role: "user", parts }) as const;
const assistant = (...parts: readonly TurnPart[]) => ({ role: "assistant", parts }) as const;
const call = (id: string, name = "look"): TurnPart => ({
  kind: "tool-call",
  id,
  name,
  argumentsText: '{"q":1}',
  seal: null,
  cache: null,
});
const result = (callId: string, text: string): TurnPart => ({
  kind: "tool-result",
  callId,
  name: null,
  parts: [{ kind: "text", text, cache: null }],
  isError: false,
  cache: null,
});

function written(turn: Partial<Turn>, upstreamModel = target.upstreamModel) {
  const warnings: string[] = [];
  const body = bedrockConverseCodec.writeTurn(
    { ...silent, messages: [user(says("hi"))], ...turn },
    { ...target, upstreamModel },
    (what) => warnings.push(what),
  );
  return { body: JSON.parse(new TextDecoder().decode(body)), warnings };
}

describe("writing a Converse request", () => {
  test("writes instructions, conversation and limits without adding other fields", () => {
    const { body, warnings } = written({
      system: [{ kind: "text", text: "be brief", cache: { ttl: null } }],
      outputTokensMax: 50,
      temperature: 0,
      topP: 0.5,
      stop: ["END"],
      serviceTier: "flex",
    });
    expect(body).toEqual({
      messages: [{ role: "user", content: [{ text: "hi" }] }],
      system: [{ text: "be brief" }],
      inferenceConfig: { maxTokens: 50, temperature: 0, topP: 0.5, stopSequences: ["END"] },
      serviceTier: { type: "flex" },
    });
    expect(warnings).toEqual([]);
    expect(written({}).body).toEqual({ messages: [{ role: "user", content: [{ text: "hi" }] }] });
  });

  test("joins messages of one role and starts with a user message", () => {
    const { body, warnings } = written({
      messages: [assistant(says("I")), user(says("a")), user(says("b"), says(""))],
    });
    expect(body.messages).toEqual([
      { role: "user", content: [{ text: "Continue." }] },
      { role: "assistant", content: [{ text: "I" }] },
      { role: "user", content: [{ text: "a" }, { text: "b" }] },
    ]);
    expect(warnings).toHaveLength(1);
  });

  test("places each result after its call, and fills in a missing one", () => {
    const { body, warnings } = written({
      messages: [user(says("go")), assistant(call("c.1"), call("c2")), user(says("and?"), result("c.1", "42"))],
    });
    const [, calls, answers] = body.messages;
    const ids = calls.content.map((block: { toolUse: { toolUseId: string } }) => block.toolUse.toolUseId);
    expect(ids[0]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(answers.content).toEqual([
      { toolResult: { toolUseId: ids[0], content: [{ text: "42" }] } },
      { toolResult: { toolUseId: "c2", content: [{ text: "The call was not carried out." }], status: "error" } },
      { text: "and?" },
    ]);
    // Bedrock refuses a conversation with calls but without tools.
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: "look", inputSchema: { json: { type: "object" } } } }],
    });
    expect(warnings).toEqual(["a tool call without a result was answered with an error"]);
  });

  test("writes tools and the tool choice, and drops both if the choice is none", () => {
    const tool = { name: "look", description: "", parameters: null, strict: true, cache: null };
    const bare = {
      toolSpec: { name: "look", inputSchema: { json: { type: "object", properties: {} } }, strict: true },
    };
    expect(written({ tools: [tool], toolChoice: { kind: "any" } }).body.toolConfig).toEqual({
      tools: [bare],
      toolChoice: { any: {} },
    });
    expect(written({ tools: [tool], toolChoice: { kind: "tool", name: "look" } }).body.toolConfig.toolChoice).toEqual({
      tool: { name: "look" },
    });
    expect(written({ tools: [tool], toolChoice: { kind: "none" } }).body.toolConfig).toBeUndefined();
  });

  test("sets cache points only for models that accept them", () => {
    const cached: TurnPart = { kind: "text", text: "long", cache: { ttl: "1h" } };
    expect(written({ messages: [user(cached)] }).body.messages[0].content).toHaveLength(1);
    expect(written({ messages: [user(cached)] }, "us.amazon.nova-pro-v1:0").body.messages[0].content[1]).toEqual({
      cachePoint: { type: "default" },
    });
  });

  test("sends reasoning back only to its own account", () => {
    const thought = (account: string): TurnPart => ({
      kind: "reasoning",
      text: "hm",
      seal: { dialect: "bedrock-converse", account, data: "sig", itemId: null },
      redacted: false,
    });
    const messages = (account: string) => [user(says("a")), assistant(thought(account), says("b")), user(says("c"))];
    expect(written({ messages: messages("aws-1") }).body.messages[1].content[0]).toEqual({
      reasoningContent: { reasoningText: { text: "hm", signature: "sig" } },
    });
    expect(written({ messages: messages("aws-2") }).body.messages[1].content).toEqual([{ text: "b" }]);
  });

  test("sends pictures and documents inline, and rejects URLs it cannot fetch", () => {
    const png = { kind: "base64", mediaType: "image/png", data: "AA==" } as const;
    const image: TurnPart = { kind: "image", source: png, name: null, detail: null, cache: null };
    const pdf: TurnPart = {
      kind: "document",
      source: { kind: "base64", mediaType: "application/pdf", data: "AA==" },
      name: "a/b__c.pdf",
      detail: null,
      cache: null,
    };
    expect(written({ messages: [user(image, pdf, pdf)] }).body.messages[0].content).toEqual([
      { image: { format: "png", source: { bytes: "AA==" } } },
      { document: { format: "pdf", name: "a b c pdf", source: { bytes: "AA==" } } },
      { document: { format: "pdf", name: "a b c pdf 2", source: { bytes: "AA==" } } },
      { text: "See the attached document." },
    ]);
    const far: TurnPart = { ...image, source: { kind: "url", url: "https://x.example/a.png", mediaType: null } };
    expect(() => written({ messages: [user(far)] })).toThrow("does not fetch URLs");
  });

  test("sends a schema if the model supports it, or else puts it into the instructions with a warning", () => {
    const format = { kind: "schema", name: "n", description: null, schema: { type: "object" }, strict: true } as const;
    expect(written({ format }).body.outputConfig).toEqual({
      textFormat: { type: "json_schema", structure: { jsonSchema: { schema: '{"type":"object"}', name: "n" } } },
    });
    const { body, warnings } = written({ format: { kind: "json" } });
    expect(body.system).toHaveLength(1);
    expect(warnings).toHaveLength(1);
  });

  test("writes vendor-specific parameters, and warns for models of other vendors", () => {
    const turn = { topK: 5, reasoning: { effort: "high", budgetTokens: null, visible: true } } as const;
    expect(written(turn, "us.anthropic.claude-sonnet-4-5-20250929-v1:0").body.additionalModelRequestFields).toEqual({
      top_k: 5,
      thinking: { type: "enabled", budget_tokens: 16_384 },
    });
    expect(written(turn, "openai.gpt-oss-120b-1:0").body.additionalModelRequestFields).toEqual({
      reasoning_effort: "high",
    });
    const { body, warnings } = written({ ...turn, seed: 0, presencePenalty: 0 });
    expect(body.additionalModelRequestFields).toBeUndefined();
    expect(warnings).toHaveLength(4);
  });

  test("rejects several choices and an empty conversation", () => {
    expect(() => written({ choices: 2 })).toThrow(Failure);
    expect(() => written({ messages: [] })).toThrow(Failure);
  });
});

const usage = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 30,
  cacheReadInputTokens: 8,
  cacheWriteInputTokens: 7,
  cacheDetails: [
    { ttl: "5m", inputTokens: 3 },
    { ttl: "1h", inputTokens: 4 },
  ],
};

describe("reading a Converse reply", () => {
  const reply = {
    output: {
      message: {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
          { reasoningContent: { redactedContent: "c2VjcmV0" } },
          { text: "Hello" },
          { toolUse: { toolUseId: "t1", name: "look", input: { q: 1 } } },
          { cachePoint: { type: "default" } },
        ],
      },
    },
    stopReason: "tool_use",
    usage,
    metrics: { latencyMs: 1 },
  };

  test("splits usage into token classes", () => {
    const facts = bedrockConverse.readReply(bytes(reply));
    expect(facts.usage?.usage).toMatchObject({
      inputUncached: 10,
      cacheRead: 8,
      cacheWrite5m: 3,
      cacheWrite1h: 4,
      output: 5,
    });
    expect(facts.errorMessage).toBeNull();
    expect(bedrockConverse.readReply(bytes({ message: "no" })).errorMessage).toBe("no");
    expect(() => bedrockConverse.readReply(new Uint8Array([0x5b]))).toThrow(Failure);
  });

  test("reads each block, and seals reasoning with this account", () => {
    const answer = bedrockConverseCodec.readAnswer(bytes(reply), source);
    const seal = (data: string) => ({ dialect: "bedrock-converse", account: "aws-1", data, itemId: null }) as const;
    expect(answer.blocks).toEqual([
      { kind: "reasoning", text: "hm", seal: seal("sig"), redacted: false },
      { kind: "reasoning", text: "", seal: seal("c2VjcmV0"), redacted: true },
      { kind: "text", text: "Hello" },
      { kind: "tool-call", id: "t1", name: "look", argumentsText: '{"q":1}', seal: null },
    ]);
    expect(answer.finish.reason).toBe("tool-calls");
    expect(() => bedrockConverseCodec.readAnswer(bytes({}), source)).toThrow(Failure);
  });

  test("recognizes an error about the context length", () => {
    const read = (message: string) => bedrockErrors.readRefusal(400, bytes({ message }));
    expect(read("Input is too long for requested model.").contextLength).toBe(true);
    expect(read("Malformed input request")).toMatchObject({ contextLength: false, message: "Malformed input request" });
    expect(bedrockErrors.readRefusal(404, new Uint8Array(0)).message).toBe("HTTP status 404");
  });
});

describe("a Converse stream", () => {
  const events: readonly Record<string, unknown>[] = [
    { messageStart: { role: "assistant" } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { reasoningContent: { text: "hm" } } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { reasoningContent: { signature: "sig" } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { text: "Hel" } } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { text: "lo" } } },
    { contentBlockStop: { contentBlockIndex: 1 } },
    { contentBlockStart: { contentBlockIndex: 2, start: { toolUse: { toolUseId: "t1", name: "look" } } } },
    { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: '{"q":' } } } },
    { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: "1}" } } } },
    { contentBlockStop: { contentBlockIndex: 2 } },
    { messageStop: { stopReason: "tool_use" } },
    { metadata: { usage, metrics: { latencyMs: 3 } } },
  ];
  const sse = (list: readonly Record<string, unknown>[]): Uint8Array =>
    new TextEncoder().encode(
      list.map((event) => `event: ${Object.keys(event)[0]}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
    );

  function read(list: readonly Record<string, unknown>[]): AnswerEvent[] {
    const out: AnswerEvent[] = [];
    const reader = bedrockConverseCodec.readEvents((event) => out.push(event), source);
    for (const event of list) reader.read(JSON.stringify(event));
    reader.end();
    return out;
  }

  test("reads content, usage after the stop event, and the end", () => {
    const tap = bedrockConverse.tapStream(false);
    tap.push(sse(events.slice(0, 1)));
    expect(tap).toMatchObject({ events: 1, contentSeen: false, ended: false });
    tap.push(sse(events.slice(1, -1)));
    expect(tap).toMatchObject({ contentSeen: true, ended: false, usageFinal: false });
    expect(tap.complete()).toBe(true);
    tap.push(sse(events.slice(-1)));
    expect(tap).toMatchObject({ events: events.length, ended: true, usageFinal: true, failure: null });
    expect(tap.usage?.usage.output).toBe(5);
    expect(tap.outputEstimate).toBeGreaterThan(0);
  });

  test("is incomplete without the stop event, and passes bytes unchanged", () => {
    const whole = sse(events);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 8 }), (cuts) => {
        const tap = bedrockConverse.tapStream(true);
        const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const out = at.slice(1).map((end, index) => tap.push(whole.subarray(at[index], end)));
        expect(Buffer.concat(out).equals(Buffer.from(whole))).toBe(true);
        expect(tap.ended).toBe(true);
      }),
      { numRuns: 30 },
    );
    const cut = bedrockConverse.tapStream(false);
    cut.push(sse(events.slice(0, -2)));
    expect(cut.complete()).toBe(false);
  });

  test("reads an error event as an upstream failure", () => {
    const tap = bedrockConverse.tapStream(false);
    tap.push(sse([{ type: "error", error: { type: "rate_limit_error", message: "slow" } }]));
    expect(tap.failure).toMatchObject({ code: "upstream_error", retry: "other", upstream: { status: 429 } });
  });

  test("emits interleaved blocks one after the other", () => {
    const seal = { dialect: "bedrock-converse", account: "aws-1", data: "sig", itemId: null } as const;
    expect(read(events).filter((event) => event.kind !== "usage")).toEqual([
      { kind: "start", id: null, model: null },
      { kind: "block-start", block: { kind: "reasoning", redacted: false } },
      { kind: "block-delta", text: "hm" },
      { kind: "block-seal", seal },
      { kind: "block-end" },
      { kind: "block-start", block: { kind: "text" } },
      { kind: "block-delta", text: "Hel" },
      { kind: "block-delta", text: "lo" },
      { kind: "block-end" },
      { kind: "block-start", block: { kind: "tool-call", id: "t1", name: "look" } },
      { kind: "block-delta", text: '{"q":' },
      { kind: "block-delta", text: "1}" },
      { kind: "block-end" },
      { kind: "finish", finish: { reason: "tool-calls", stopSequence: null } },
      { kind: "end" },
    ]);
  });

  test("emits an error and nothing after it", () => {
    const out = read([...events.slice(0, 3), { error: { type: "api_error", message: "gone" } }, ...events.slice(3)]);
    expect(out.at(-1)?.kind).toBe("error");
  });

  test("rejects deltas of a call that is not open", () => {
    expect(() => read([{ contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: "{" } } } }])).toThrow(
      Failure,
    );
  });
});
