import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Seal, ToolCallPart, ToolResultPart, Turn, TurnMessage, TurnPart } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { anthropicMessagesCodec as codec } from "./index.ts";

const decoder = new TextDecoder();

const asked: Turn = {
  ...silentTurn,
  outputTokensMax: 4_096,
};

const target = { upstreamModel: "claude-opus-5", account: "acme", traits: {}, newId: (prefix: string) => `${prefix}1` };

/** Written for the upstream and read as a caller's request again; nothing may have been warned of. */
function thereAndBack(turn: Turn): Turn {
  const warnings: string[] = [];
  const body = codec.writeTurn(turn, target, (what) => warnings.push(what));
  const read = codec.readTurn(body, { model: "m", stream: turn.stream }, (what) => warnings.push(what));
  expect(warnings).toEqual([]);
  return read;
}

/** Cache marks are adjusted, not copied, and have separate tests. */
function withoutMarks(turn: Turn): unknown {
  return JSON.parse(JSON.stringify(turn, (name, value: unknown) => (name === "cache" ? null : value)));
}

const words = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() === text && text !== "");
const textPart = words.map((text) => ({ kind: "text" as const, text, cache: null }));
const mediaPart = fc.oneof(
  fc.constant({ kind: "base64" as const, mediaType: "image/png", data: "aGk=" }).map((source) => ({
    ...{ kind: "image" as const, source, name: null, detail: null, cache: null },
  })),
  fc.webUrl().map((url) => ({
    ...{ kind: "image" as const, source: { kind: "url" as const, url, mediaType: null } },
    ...{ name: null, detail: null, cache: null },
  })),
  fc.tuple(words, words).map(([text, name]) => ({
    ...{ kind: "document" as const, source: { kind: "text" as const, text }, name, detail: null, cache: null },
  })),
);
const seal = words.map((data): Seal => ({ dialect: "anthropic-messages", account: null, data, itemId: null }));
const thought = fc.oneof(
  fc.tuple(words, seal).map(([text, made]): TurnPart => ({ kind: "reasoning", text, seal: made, redacted: false })),
  seal.map((made): TurnPart => ({ kind: "reasoning", text: "", seal: made, redacted: true })),
);
const toolName = fc.stringMatching(/^[a-z_]{1,12}$/);
const call = fc.record({
  name: toolName,
  argumentsText: fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
  results: fc.array(fc.oneof(textPart, mediaPart), { maxLength: 3 }),
  isError: fc.boolean(),
});

/** A user message, and perhaps an answer with calls of tools whose results open the next user message. */
const round = fc.record({
  said: fc.array(fc.oneof(textPart, mediaPart), { minLength: 1, maxLength: 3 }),
  thoughts: fc.array(thought, { maxLength: 2 }),
  answer: textPart,
  calls: fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 10 }), call), {
    maxLength: 3,
    selector: ([id]) => id,
  }),
});

const conversation = fc.array(round, { minLength: 1, maxLength: 4 }).map((rounds): TurnMessage[] => {
  const messages: TurnMessage[] = [];
  let results: ToolResultPart[] = [];
  for (const { said, thoughts, answer, calls } of rounds) {
    messages.push({ role: "user", parts: [...results, ...said] });
    const called = calls.map(
      ([id, { name, argumentsText }]): ToolCallPart => ({
        ...{ kind: "tool-call", id, name, argumentsText, seal: null, cache: null },
      }),
    );
    messages.push({ role: "assistant", parts: [...thoughts, answer, ...called] });
    results = calls.map(([callId, { name, results: parts, isError }]) => ({
      ...{ kind: "tool-result", callId, name, parts, isError, cache: null },
    }));
  }
  messages.push({ role: "user", parts: [...results, { kind: "text", text: "Go on.", cache: null }] });
  return messages;
});

const tools = fc.uniqueArray(toolName, { maxLength: 3 }).map((names) =>
  names.map((name) => ({
    ...{ name, description: `What ${name} does`, strict: null, cache: null },
    parameters: { type: "object", properties: { city: { type: "string" } } },
  })),
);

const settings = fc.oneof(
  fc.record({
    reasoning: fc.constant(null),
    temperature: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    topK: fc.option(fc.nat()),
  }),
  fc.record({
    reasoning: fc.record({
      effort: fc.constantFrom("low", "medium", "high", "xhigh", "max"),
      budgetTokens: fc.constant(null),
      visible: fc.boolean(),
    }),
  }),
);

const turns = fc
  .record({
    messages: conversation,
    system: fc.array(textPart, { maxLength: 2 }),
    declared: tools,
    choice: fc.constantFrom("auto", "any", "none", "tool", null),
    single: fc.boolean(),
    settings,
    stream: fc.boolean(),
    outputTokensMax: fc.integer({ min: 1, max: 100_000 }),
    stop: fc.array(words, { maxLength: 3 }),
    userId: fc.option(words),
    serviceTier: fc.constantFrom("auto", "default", null),
    schema: fc.boolean(),
  })
  .map(({ declared, choice, single, settings: set, schema, ...rest }): Turn => {
    const called = rest.messages.some((message) => message.parts.some((part) => part.kind === "tool-call"));
    const known = called && declared.length === 0 ? [{ ...lookup, name: "look" }] : declared;
    const name = known[0]?.name;
    const free = name === undefined || set.reasoning !== null;
    const picked = free ? null : choice === "tool" ? { kind: "tool" as const, name } : choice && { kind: choice };
    return {
      ...asked,
      ...rest,
      ...set,
      tools: known,
      toolChoice: single && picked === null && name !== undefined ? { kind: "auto" } : picked,
      parallelToolCalls: single && name !== undefined && picked?.kind !== "none" ? false : null,
      format: schema
        ? { kind: "schema", name: null, description: null, schema: { type: "string" }, strict: null }
        : null,
    } as Turn;
  });

const lookup = {
  name: "look",
  description: null,
  parameters: { type: "object", properties: {} },
  strict: null,
  cache: null,
};

describe("a request written for Anthropic and read again", () => {
  test("keeps every supported field", () => {
    fc.assert(
      fc.property(turns, (turn) => {
        expect(withoutMarks(thereAndBack(turn))).toEqual(withoutMarks(turn));
      }),
      { numRuns: 500 },
    );
  });

  test("repairs the order of messages, calls and results", () => {
    const anyPart: fc.Arbitrary<TurnPart> = fc.oneof(
      fc.constantFrom("", " ", "text").map((text): TurnPart => ({ kind: "text", text, cache: null })),
      fc.constantFrom("a", "b", "c").map(
        (id): TurnPart => ({
          ...{ kind: "tool-call", id, name: "look", argumentsText: "{}", seal: null, cache: null },
        }),
      ),
      fc.constantFrom("a", "b", "c").map(
        (callId): TurnPart => ({
          ...{ kind: "tool-result", callId, name: null, parts: [], isError: false, cache: null },
        }),
      ),
      thought,
    );
    const message = fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const, "system" as const),
      parts: fc.array(anyPart, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const system = [{ kind: "text" as const, text: "Be brief.", cache: null }];
        const body = codec.writeTurn({ ...asked, system, messages }, target, () => {});
        expectTakable(JSON.parse(decoder.decode(body)).messages);
      }),
      { numRuns: 1_000 },
    );
  });
});

interface Sent {
  readonly role: string;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly id?: string;
    readonly tool_use_id?: string;
  }[];
}

function expectTakable(messages: readonly Sent[]): void {
  expect(messages[0]?.role).toBe("user");
  messages.forEach(({ role, content }, at) => {
    expect(role).toBe(at % 2 === 0 ? "user" : "assistant");
    expect(content.length).toBeGreaterThan(0);
    for (const block of content) if (block.type === "text") expect(block.text?.trim()).not.toBe("");
    expect(content.at(-1)?.type).not.toMatch(/thinking/);
    const calls = (messages[at - 1]?.content ?? []).filter((block) => block.type === "tool_use");
    const results = content.filter((block) => block.type === "tool_result");
    if (role === "assistant") return;
    expect(results.map((block) => block.tool_use_id)).toEqual(calls.map((block) => block.id));
    expect(content.slice(0, results.length)).toEqual(results);
  });
  expect(messages.at(-1)?.content.some((block) => block.type === "tool_use")).toBe(false);
}
