import type { Turn, TurnPart } from "#core/index.ts";
import { emptyTurn, text, tool } from "./turn-arbitraries.ts";

/** Something that a turn can express, and a check that it is still there after a translation. */
export interface Feature {
  readonly name: string;
  readonly turn: Turn;
  survives(read: Turn): boolean;
}

const question: Turn = { ...emptyTurn, messages: [{ role: "user", parts: [text("Hello, answer in JSON")] }] };
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

/** A schema with which OpenAI can enforce the arguments of calls. */
const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

const members: readonly Partial<Turn>[] = [
  { outputTokensMax: 4_000 },
  { temperature: 0.5 },
  { topP: 0.9 },
  { topK: 40 },
  { presencePenalty: 0.5 },
  { frequencyPenalty: 0.5 },
  { seed: 7 },
  { stop: ["END", "STOP"] },
  { format: { kind: "json" } },
  { format: { kind: "schema", name: "reply", description: null, schema, strict: true } },
  { reasoning: { effort: "high", budgetTokens: null, visible: false } },
  { verbosity: "low" },
  { userId: "user-1" },
  { metadata: { team: "blue" } },
  { serviceTier: "flex" },
  { parallelToolCalls: false, tools: [tool("search")] },
  { toolChoice: { kind: "auto" }, tools: [tool("search")] },
  { toolChoice: { kind: "none" }, tools: [tool("search")] },
  { toolChoice: { kind: "any" }, tools: [tool("search")] },
  { toolChoice: { kind: "tool", name: "search" }, tools: [tool("search")] },
  { tools: [{ ...tool("search"), parameters: closed, strict: true }] },
];

/** Explicit zeros are values. */
const zeros: readonly Partial<Turn>[] = [{ temperature: 0 }, { topP: 0 }, { presencePenalty: 0 }, { seed: 0 }];

export const features: readonly Feature[] = [
  ...members.map((member) => memberFeature(memberName(member), member)),
  ...zeros.map((member) => memberFeature(`${Object.keys(member)[0]} 0`, member)),
  partFeature("a document", {
    kind: "document",
    source: { kind: "base64", mediaType: "application/pdf", data: "JVBERi0xLjQ=" },
    name: "paper.pdf",
    detail: null,
    cache: null,
  }),
  partFeature("an image by URL", {
    kind: "image",
    source: { kind: "url", url: "https://example.com/a.png", mediaType: "image/png" },
    name: null,
    detail: null,
    cache: null,
  }),
  {
    name: "the error mark of a tool result",
    turn: resultTurn({ isError: true }),
    // A dialect without an error mark may put the error into the result's text.
    survives: (read) => resultsOf(read).some((part) => part.isError || startsAsError(part.parts[0])),
  },
  {
    name: "a picture in a tool result",
    turn: resultTurn({
      parts: [
        text("see"),
        {
          kind: "image",
          source: { kind: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" },
          name: null,
          detail: null,
          cache: null,
        },
      ],
    }),
    survives: (read) => resultsOf(read).some((part) => part.parts.some((inner) => inner.kind === "image")),
  },
  {
    name: "instructions within the conversation",
    turn: {
      ...question,
      messages: [
        ...question.messages,
        { role: "assistant", parts: [text("Hi")] },
        { role: "system", parts: [text("Be brief")] },
        ...question.messages,
      ],
    },
    survives: (read) => read.messages.some(({ role, parts }) => role === "system" && parts.length > 0),
  },
];

function memberName(member: Partial<Turn>): string {
  const [name = "", value] = Object.entries(member)[0] ?? [];
  if (name === "tools") return "strict";
  return typeof value === "object" && value !== null && "kind" in value ? `${name} ${String(value.kind)}` : name;
}

function memberFeature(name: string, member: Partial<Turn>): Feature {
  const turn = { ...question, ...member };
  return { name, turn, survives: (read) => sameMember(Object.keys(member)[0] ?? "", turn, read) };
}

function sameMember(key: string, turn: Turn, read: Turn): boolean {
  // Some dialects express an effort as a token budget, and have no name for a schema.
  if (key === "reasoning") return read.reasoning?.effort === "high" || (read.reasoning?.budgetTokens ?? 0) >= 16_384;
  if (key === "format") return Bun.deepEquals(schemaOf(turn), schemaOf(read));
  if (key === "tools") return read.tools[0]?.strict === turn.tools[0]?.strict;
  const [before, after] = [turn, read].map(
    (each) => Object.entries(each).find(([name]) => name === key)?.[1] as unknown,
  );
  return Bun.deepEquals(before, after);
}

function schemaOf({ format }: Turn): unknown {
  return format?.kind === "schema" ? format.schema : format?.kind;
}

function partFeature(name: string, part: TurnPart & { kind: "image" | "document" }): Feature {
  return {
    name,
    turn: { ...question, messages: [{ role: "user", parts: [text("This file:"), part] }] },
    survives: (read) =>
      read.messages.some(({ parts }) =>
        parts.some((other) => other.kind === part.kind && sameSource(other.source, part.source)),
      ),
  };
}

type Source = (TurnPart & { kind: "image" })["source"];

function sameSource(one: Source, other: Source): boolean {
  if (one.kind === "url" && other.kind === "url") return one.url === other.url;
  return Bun.deepEquals(one, other);
}

function resultTurn(change: Partial<TurnPart & { kind: "tool-result" }>): Turn {
  const result = {
    kind: "tool-result" as const,
    callId: "call_1",
    name: "search",
    parts: [text("see")],
    isError: false,
    cache: null,
  };
  return {
    ...question,
    tools: [tool("search")],
    messages: [
      ...question.messages,
      {
        role: "assistant",
        parts: [{ kind: "tool-call", id: "call_1", name: "search", argumentsText: "{}", seal: null, cache: null }],
      },
      { role: "user", parts: [{ ...result, ...change }] },
    ],
  };
}

function startsAsError(part: TurnPart | undefined): boolean {
  return part?.kind === "text" && part.text.startsWith("Error:");
}

function resultsOf(turn: Turn): readonly (TurnPart & { kind: "tool-result" })[] {
  return turn.messages.flatMap(({ parts }) => parts.filter((part) => part.kind === "tool-result"));
}
