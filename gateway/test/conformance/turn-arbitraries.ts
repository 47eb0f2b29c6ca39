import fc from "fast-check";
import type {
  Answer,
  AnswerBlock,
  AnswerEvent,
  BlockHead,
  Turn,
  TurnMessage,
  TurnPart,
  TurnTool,
  Usage,
} from "#core/index.ts";
import { noUsage } from "#core/index.ts";
import { silentTurn } from "../silent-turn.ts";

export const emptyTurn: Turn = {
  ...silentTurn,
};

/** A text that is never blank, with characters that could confuse JSON, SSE and UTF-8. */
const anyText = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
  .map((text) => `${text}.`)
  .chain((text) => fc.constantFrom(text, `${text}\n\ndata: {"x"}`, `"${text}\\`, `${text} \u2028 \u{1f600}`));

const toolName = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);
const image: TurnPart = {
  kind: "image",
  source: { kind: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" },
  name: null,
  detail: null,
  cache: null,
};

export const text = (value: string): TurnPart & { kind: "text" } => ({ kind: "text", text: value, cache: null });

export const tool = (name: string): TurnTool => ({
  name,
  description: `What ${name} does`,
  parameters: { type: "object", properties: { a: { type: "string" }, n: { type: "number" } } },
  strict: null,
  cache: null,
});

const argumentsText = fc
  .record({
    a: anyText,
    n: fc.integer(),
    deep: fc.option(fc.record({ list: fc.array(fc.boolean(), { maxLength: 2 }) })),
  })
  .map((value) => JSON.stringify(value));

interface Round {
  readonly texts: readonly string[];
  readonly hasImage: boolean;
  readonly answer: string | null;
  readonly thought: string | null;
  readonly calls: readonly { readonly argumentsText: string; readonly result: string; readonly tool: number }[];
}

const round: fc.Arbitrary<Round> = fc.record({
  texts: fc.array(anyText, { minLength: 1, maxLength: 2 }),
  hasImage: fc.boolean(),
  answer: fc.option(anyText),
  thought: fc.option(anyText),
  calls: fc.array(fc.record({ argumentsText, result: anyText, tool: fc.nat() }), { maxLength: 3 }),
});

/** A conversation that every dialect can express: rounds of texts, thoughts, parallel calls and their results. */
export const turnArbitrary: fc.Arbitrary<Turn> = fc
  .record({
    system: fc.array(anyText, { maxLength: 2 }),
    tools: fc.uniqueArray(toolName, { minLength: 1, maxLength: 3 }),
    rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
    last: anyText,
  })
  .map(({ system, tools, rounds, last }) => ({
    ...emptyTurn,
    system: system.map(text),
    tools: tools.map(tool),
    messages: [
      ...rounds.flatMap((one, index) => roundMessages(one, index, tools)),
      { role: "user" as const, parts: [text(last)] },
    ],
  }));

function roundMessages(one: Round, index: number, tools: readonly string[]): TurnMessage[] {
  const user: TurnPart[] = one.texts.map(text);
  if (one.hasImage) user.push(image);
  const answer: TurnPart[] = [];
  if (one.thought !== null) answer.push({ kind: "reasoning", text: one.thought, seal: null, redacted: false });
  if (one.answer !== null || one.calls.length === 0) answer.push(text(one.answer ?? "So be it."));
  const results: TurnPart[] = [];
  one.calls.forEach((call, at) => {
    const id = `call_${index}_${at}`;
    const name = tools[call.tool % tools.length] ?? "";
    answer.push({ kind: "tool-call", id, name, argumentsText: call.argumentsText, seal: null, cache: null });
    results.push({ kind: "tool-result", callId: id, name, parts: [text(call.result)], isError: false, cache: null });
  });
  const messages: TurnMessage[] = [
    { role: "user", parts: user },
    { role: "assistant", parts: answer },
  ];
  return results.length === 0 ? messages : [...messages, { role: "user", parts: results }];
}

/** The same with lost, duplicated or reordered messages, as clients send them. */
export const brokenTurnArbitrary: fc.Arbitrary<Turn> = fc
  .tuple(turnArbitrary, fc.array(fc.record({ at: fc.nat(), kind: fc.constantFrom("drop", "double", "swap") })))
  .map(([turn, damages]) => {
    const messages = [...turn.messages];
    for (const { at, kind } of damages.slice(0, 3)) {
      const index = at % messages.length;
      const message = messages[index];
      if (message === undefined || messages.length < 2) continue;
      if (kind === "drop") messages.splice(index, 1);
      else if (kind === "double")
        messages.splice(index, 0, { role: message.role, parts: message.parts.map((part) => ({ ...part })) });
      else messages.push(...messages.splice(index, 1));
    }
    // The last message is always from the user, because a call answers one.
    return { ...turn, messages: [...messages, { role: "user" as const, parts: [text("Continue.")] }] };
  });

const count = fc.nat({ max: 100_000 });
const usageArbitrary: fc.Arbitrary<Usage> = fc
  .record({ inputUncached: count, cacheRead: count, cacheWrite5m: count, output: count, reasoning: count })
  .map((usage) => ({ ...noUsage, ...usage, reasoning: Math.min(usage.reasoning, usage.output) }));

/** An answer with thoughts, text and calls in this order, which all dialects can express, or a refusal. */
export const answerArbitrary: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 6, arbitrary: plainAnswer() },
  { weight: 1, arbitrary: refusalAnswer() },
);

function plainAnswer(): fc.Arbitrary<Answer> {
  return fc
    .record({
      thought: fc.option(anyText),
      answerText: fc.option(anyText),
      calls: fc.array(fc.record({ name: toolName, argumentsText }), { maxLength: 3 }),
      usage: usageArbitrary,
      cut: fc.constantFrom("stop" as const, "length" as const),
    })
    .map(({ thought, answerText, calls, usage, cut }) => {
      const blocks: AnswerBlock[] = [];
      if (thought !== null) blocks.push({ kind: "reasoning", text: thought, seal: null, redacted: false });
      if (answerText !== null || calls.length === 0) blocks.push({ kind: "text", text: answerText ?? "Done." });
      calls.forEach((call, index) => {
        blocks.push({ kind: "tool-call", id: `call_${index}`, ...call, seal: null });
      });
      const reason = calls.length > 0 ? ("tool-calls" as const) : cut;
      return { id: "id-1", model: "upstream-model", blocks, finish: { reason, stopSequence: null }, usage };
    });
}

function refusalAnswer(): fc.Arbitrary<Answer> {
  return fc.tuple(anyText, usageArbitrary).map(([refusal, usage]) => ({
    id: "id-1",
    model: "upstream-model",
    blocks: [{ kind: "refusal", text: refusal }],
    finish: { reason: "refusal", stopSequence: null },
    usage,
  }));
}

/** The events of an answer, with its blocks in pieces and its usage at the start or the end. */
export function eventsOf(answer: Answer, pieces: number, usageEarly: boolean): readonly AnswerEvent[] {
  const usage: AnswerEvent[] = answer.usage === null ? [] : [{ kind: "usage", usage: answer.usage }];
  return [
    { kind: "start", id: answer.id, model: answer.model },
    ...(usageEarly ? [{ kind: "usage" as const, usage: { ...noUsage, inputUncached: 1 } }] : []),
    ...answer.blocks.flatMap((block) => blockEvents(block, pieces)),
    ...(usageEarly ? usage : []),
    { kind: "finish", finish: answer.finish },
    ...(usageEarly ? [] : usage),
    { kind: "end" },
  ];
}

function blockEvents(block: AnswerBlock, pieces: number): readonly AnswerEvent[] {
  const head: BlockHead =
    block.kind === "reasoning"
      ? { kind: "reasoning", redacted: block.redacted }
      : block.kind === "tool-call"
        ? { kind: "tool-call", id: block.id, name: block.name }
        : block.kind === "image"
          ? { kind: "image", source: block.source }
          : { kind: block.kind };
  const body = block.kind === "image" ? "" : block.kind === "tool-call" ? block.argumentsText : block.text;
  const size = Math.max(1, Math.ceil(body.length / pieces));
  const deltas: AnswerEvent[] = [];
  // Cut between characters, because no upstream ends an event inside one.
  const characters = [...body];
  for (let at = 0; at < characters.length; at += size) {
    deltas.push({ kind: "block-delta", text: characters.slice(at, at + size).join("") });
  }
  const seal = block.kind === "reasoning" || block.kind === "tool-call" ? block.seal : null;
  return [
    { kind: "block-start", block: head },
    ...deltas,
    ...(seal === null ? [] : [{ kind: "block-seal" as const, seal }]),
    { kind: "block-end" },
  ];
}
