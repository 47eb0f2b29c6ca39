import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  noUsage,
  type Turn,
  type TurnMessage,
  type TurnPart,
} from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { eventData, SseEvents } from "../stream/sse-events.ts";
import { emptySeal } from "../turn/seal-text.ts";
import { writeSignature } from "./encodings.ts";
import { geminiCodec, geminiWire } from "./index.ts";

const decoder = new TextDecoder();
const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,20}$/);
const json = fc.dictionary(
  fc.string({ maxLength: 6 }).filter((key) => key !== "__proto__"),
  // The value after a round trip through JSON, which writes -0 as 0.
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
  { maxKeys: 3 },
);
const argumentsText = json.map((value) => JSON.stringify(value)).map((value) => JSON.stringify(JSON.parse(value)));
const base64 = fc.base64String({ minLength: 4, maxLength: 24 });
const text = words.map((value): TurnPart => ({ kind: "text", text: value, cache: null }));
const media = fc
  .tuple(fc.constantFrom("image/png", "audio/wav", "video/mp4", "application/pdf"), base64)
  .map(([mediaType, data]): TurnPart => {
    const family = mediaType.split("/", 1)[0];
    const kind = family === "image" || family === "audio" || family === "video" ? family : "document";
    return { kind, source: { kind: "base64", mediaType, data }, name: null, detail: null, cache: null };
  });
const seal = base64.map((data) => ({ dialect: "gemini" as const, account: null, data, itemId: null }));

/** One exchange: the user's message, the model's thoughts, answer and tool calls, and their results. */
const exchange = fc.record({
  userParts: fc.array(fc.oneof(text, media), { minLength: 1, maxLength: 3 }),
  thought: fc.option(fc.tuple(words, seal)),
  answer: words,
  calls: fc.array(fc.record({ name, argumentsText, sealed: fc.option(seal), result: words, isError: fc.boolean() }), {
    maxLength: 3,
  }),
});

const turns: fc.Arbitrary<Turn> = fc
  .record({
    system: fc.array(words, { maxLength: 2 }),
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 3 }),
    tools: fc.array(fc.record({ name, description: fc.option(words), parameters: fc.option(json) }), { maxLength: 2 }),
    temperature: fc.option(fc.constantFrom(0, 0.5, 2)),
    topK: fc.option(fc.nat({ max: 50 })),
    outputTokensMax: fc.option(fc.nat({ max: 9_000 })),
    stop: fc.array(words, { maxLength: 5 }),
    schema: fc.option(json),
  })
  .map(({ system, exchanges, tools, schema, ...rest }) => ({
    stream: false,
    system: system.map((value) => ({ kind: "text", text: value, cache: null })),
    messages: exchanges.flatMap(messagesOf),
    tools: tools.map((tool) => ({ ...tool, strict: null, cache: null })),
    toolChoice: tools.length === 0 ? null : { kind: "auto" },
    parallelToolCalls: null,
    topP: null,
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
    choices: 1,
    format: schema === null ? null : { kind: "schema", name: null, description: null, schema, strict: null },
    reasoning: null,
    verbosity: null,
    userId: null,
    metadata: null,
    cacheKey: null,
    serviceTier: null,
    ...rest,
  }));

function messagesOf(one: typeof exchange extends fc.Arbitrary<infer T> ? T : never, index: number): TurnMessage[] {
  const answer: TurnPart[] = [];
  if (one.thought !== null) {
    answer.push({ kind: "reasoning", text: one.thought[0], seal: one.thought[1], redacted: false });
  }
  answer.push({ kind: "text", text: one.answer, cache: null });
  const results: TurnPart[] = [];
  one.calls.forEach((call, at) => {
    const id = `call_${index}_${at}`;
    answer.push({
      kind: "tool-call",
      id,
      name: call.name,
      argumentsText: call.argumentsText,
      seal: call.sealed,
      cache: null,
    });
    const textPart = { kind: "text" as const, text: call.result, cache: null };
    results.push({
      kind: "tool-result",
      callId: id,
      name: call.name,
      parts: [textPart],
      isError: call.isError,
      cache: null,
    });
  });
  const messages: TurnMessage[] = [
    { role: "user", parts: one.userParts },
    { role: "assistant", parts: answer },
  ];
  return results.length === 0 ? messages : [...messages, { role: "user", parts: results }];
}

/** In Gemini's contents, results and the user's next text are one message. */
function joined(messages: readonly TurnMessage[]): TurnMessage[] {
  const out: TurnMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (last?.role === message.role) out[out.length - 1] = { ...last, parts: [...last.parts, ...message.parts] };
    else out.push(message);
  }
  return out;
}

function context(overrides: Partial<AnswerContext> = {}): AnswerContext {
  return {
    turn: {} as Turn,
    model: "public",
    account: "acc",
    createdAt: 0,
    wantsUsage: true,
    newId: (prefix) => `${prefix}new`,
    warn: (what) => {
      throw new Error(`warned: ${what}`);
    },
    ...overrides,
  };
}

describe("a request written for Gemini and read again", () => {
  test("keeps everything without a warning", () => {
    const target = { upstreamModel: "gemini-2.5-flash", account: "acc", traits: {}, newId: (prefix: string) => prefix };
    const warn = context().warn;
    fc.assert(
      fc.property(turns, (generated) => {
        // Both together are requested in the instructions.
        const turn = generated.tools.length > 0 ? { ...generated, format: null } : generated;
        const body = geminiCodec.writeTurn(turn, target, warn);
        const back = geminiCodec.readTurn(body, { model: "gemini-2.5-flash", stream: false }, warn);
        expect(back as unknown).toEqual({ ...turn, messages: joined(turn.messages) });
        // The native wire reads the same from these bytes.
        const facts = geminiWire.readRequest(body, { model: "gemini-2.5-flash", stream: false });
        expect(facts.outputTokensMax).toBe(turn.outputTokensMax || null);
      }),
      { numRuns: 300 },
    );
  });
});

const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
  words.map((value): AnswerBlock => ({ kind: "text", text: value })),
  fc.tuple(words, seal).map(
    ([value, by]): AnswerBlock => ({
      kind: "reasoning",
      text: value,
      seal: { ...by, account: "acc" },
      redacted: false,
    }),
  ),
  fc.record({ id: fc.stringMatching(/^[a-z]{1,8}$/), name, argumentsText, sealed: fc.option(seal) }).map(
    ({ sealed, ...rest }): AnswerBlock => ({
      kind: "tool-call",
      ...rest,
      seal: sealed === null ? null : { ...sealed, account: "acc" },
    }),
  ),
  base64.map((data): AnswerBlock => ({ kind: "image", source: { kind: "base64", mediaType: "image/png", data } })),
);

const answers: fc.Arbitrary<Answer> = fc
  .record({
    blocks: fc.array(block, { minLength: 1, maxLength: 6 }),
    reason: fc.constantFrom("stop" as const, "length" as const, "content-filter" as const, "error" as const),
    usage: fc.option(
      fc.record({
        inputUncached: fc.nat(9_999),
        cacheRead: fc.nat(9_999),
        output: fc.nat(9_999),
        imageInput: fc.nat(99),
      }),
    ),
  })
  .map(({ blocks, reason, usage }) => ({
    id: "r1",
    model: "upstream-model",
    blocks: neighboursApart(blocks),
    finish: {
      reason: reason === "stop" && blocks.some((one) => one.kind === "tool-call") ? "tool-calls" : reason,
      stopSequence: null,
    },
    usage: usage === null ? null : { ...noUsage, ...usage },
  }));

/** Two texts in a row are one text to Gemini. */
function neighboursApart(blocks: readonly AnswerBlock[]): AnswerBlock[] {
  return blocks.filter((one, index) => one.kind !== "text" || blocks[index - 1]?.kind !== "text");
}

function eventsOf(answer: Answer, size: number): AnswerEvent[] {
  const events: AnswerEvent[] = [{ kind: "start", id: answer.id, model: answer.model }];
  for (const one of answer.blocks) {
    if (one.kind === "tool-call")
      events.push({ kind: "block-start", block: { kind: one.kind, id: one.id, name: one.name } });
    else if (one.kind === "reasoning")
      events.push({ kind: "block-start", block: { kind: one.kind, redacted: one.redacted } });
    else if (one.kind === "image") events.push({ kind: "block-start", block: one });
    else events.push({ kind: "block-start", block: { kind: one.kind } });
    const body = one.kind === "tool-call" ? one.argumentsText : one.kind === "image" ? "" : one.text;
    const characters = [...body];
    for (let at = 0; at < characters.length; at += size) {
      events.push({ kind: "block-delta", text: characters.slice(at, at + size).join("") });
    }
    if ((one.kind === "tool-call" || one.kind === "reasoning") && one.seal !== null) {
      events.push({ kind: "block-seal", seal: one.seal });
    }
    events.push({ kind: "block-end" });
  }
  events.push({ kind: "finish", finish: answer.finish });
  // Some dialects send usage after the finish; it must still be in the last chunk.
  if (answer.usage !== null) events.push({ kind: "usage", usage: answer.usage });
  events.push({ kind: "end" });
  return events;
}

function gather(data: readonly string[]): Answer {
  const events: AnswerEvent[] = [];
  const reader = geminiCodec.readEvents((event) => events.push(event), context());
  for (const one of data) reader.read(one);
  reader.end();
  const blocks: AnswerBlock[] = [];
  let answer: Answer = { id: null, model: null, blocks, finish: { reason: "error", stopSequence: null }, usage: null };
  for (const event of events) {
    const last = blocks.at(-1);
    if (event.kind === "start") answer = { ...answer, id: event.id, model: event.model };
    else if (event.kind === "usage") answer = { ...answer, usage: event.usage };
    else if (event.kind === "finish") answer = { ...answer, finish: event.finish };
    else if (event.kind === "block-start") {
      const head = event.block;
      if (head.kind === "tool-call") blocks.push({ ...head, argumentsText: "", seal: null });
      else if (head.kind === "reasoning") blocks.push({ ...head, text: "", seal: null });
      else blocks.push(head.kind === "image" ? head : { ...head, text: "" });
    } else if (event.kind === "block-seal" && (last?.kind === "tool-call" || last?.kind === "reasoning")) {
      blocks[blocks.length - 1] = { ...last, seal: event.seal };
    } else if (event.kind === "block-delta" && last !== undefined && last.kind !== "image") {
      blocks[blocks.length - 1] =
        last.kind === "tool-call"
          ? { ...last, argumentsText: last.argumentsText + event.text }
          : { ...last, text: last.text + event.text };
    }
  }
  return answer;
}

/** A call without a seal gets one that only marks it as foreign. */
function withoutBareSeals(answer: Answer): Answer {
  const bare = writeSignature(emptySeal(null));
  const blocks = answer.blocks.map((block) =>
    block.kind === "tool-call" && block.seal?.data === bare ? { ...block, seal: null } : block,
  );
  return { ...answer, blocks };
}

describe("an answer for a Gemini caller", () => {
  test("reads back unchanged", () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const body = geminiCodec.writeAnswer(answer, context());
        expect(withoutBareSeals(geminiCodec.readAnswer(body, context()))).toEqual(answer);
        const facts = geminiWire.readReply(body);
        expect([facts.id, facts.errorMessage, facts.usage?.usage ?? null]).toEqual(["r1", null, answer.usage]);
      }),
      { numRuns: 300 },
    );
  });

  test("holds the same content as a stream of complete events", () => {
    fc.assert(
      fc.property(answers, fc.integer({ min: 1, max: 9 }), (answer, size) => {
        const writer = geminiCodec.writeEvents(context());
        const stream = Buffer.from(
          eventsOf(answer, size)
            .map((event) => writer.write(event))
            .join(""),
        );
        const data: string[] = [];
        new SseEvents().push(stream, (bytes, start, end) => data.push(eventData(bytes, start, end)));
        expect(withoutBareSeals(gather(data))).toEqual(answer);
        const tap = geminiWire.tapStream(false);
        expect(decoder.decode(tap.push(stream))).toBe(stream.toString());
        expect([tap.complete(), tap.failure, tap.usage?.usage ?? null, tap.id]).toEqual([
          true,
          null,
          answer.usage,
          "r1",
        ]);
      }),
      { numRuns: 300 },
    );
  });

  test("always has a part, the public model name and an id", () => {
    const finish = { reason: "content-filter", stopSequence: null } as const;
    const body = geminiCodec.writeAnswer({ id: null, model: null, blocks: [], finish, usage: null }, context());
    expect(JSON.parse(decoder.decode(body))).toEqual({
      candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "SAFETY", index: 0 }],
      modelVersion: "public",
      responseId: "resp_new",
    });
  });

  test("encodes another vendor's reasoning in a signature", () => {
    const by = { dialect: "anthropic-messages", account: "acc", data: "sig", itemId: null } as const;
    const blocks: AnswerBlock[] = [
      { kind: "reasoning", text: "hm", seal: by, redacted: false },
      { kind: "reasoning", text: "", seal: { ...by, data: "hidden" }, redacted: true },
      { kind: "text", text: "Yes." },
    ];
    const finish = { reason: "stop", stopSequence: null } as const;
    const body = geminiCodec.writeAnswer({ id: null, model: null, blocks, finish, usage: null }, context());
    const { content } = JSON.parse(decoder.decode(body)).candidates[0];
    const next = Buffer.from(JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }, content] }));
    const turn = geminiCodec.readTurn(next, { model: "m", stream: false }, context().warn);
    expect(turn.messages[1]?.parts as unknown).toEqual([
      blocks[0],
      blocks[1],
      { kind: "text", text: "Yes.", cache: null },
    ]);
  });

  test("sends arguments that are not an object as _raw, with a warning", () => {
    const warnings: string[] = [];
    const writer = geminiCodec.writeEvents(context({ warn: (what) => warnings.push(what) }));
    writer.write({ kind: "block-start", block: { kind: "tool-call", id: "c", name: "f" } });
    expect(writer.write({ kind: "block-delta", text: '{"a":' })).toBe("");
    expect(writer.write({ kind: "block-end" })).toContain('"args":{"_raw":"{\\"a\\":"}');
    expect(warnings).toHaveLength(1);
  });

  test("rejects a call whose arguments exceed the bound", () => {
    const writer = geminiCodec.writeEvents(context());
    writer.write({ kind: "block-start", block: { kind: "tool-call", id: "c", name: "f" } });
    expect(() => {
      for (let sent = 0; sent < 40; sent++) writer.write({ kind: "block-delta", text: "x".repeat(60_000) });
    }).toThrow("more than");
  });
});
