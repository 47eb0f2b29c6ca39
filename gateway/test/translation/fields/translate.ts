import type { Turn, WireDialectId } from "#core/index.ts";
import { endpointProtocols, upstreamSide } from "#protocols/index.ts";
import { emptyTurn } from "../../conformance/turn-arbitraries.ts";
import { type Generating, streams } from "./default-bodies.ts";
import { type EventPlaces, eventType, type Outcome, outcomeOf } from "./lost-fields.ts";

export const dialectOf = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic-messages",
  generate: "gemini",
  interactions: "gemini-interactions",
} as const satisfies Record<Generating, WireDialectId>;

/** A model for each upstream dialect. */
export const upstreamModels: Readonly<Partial<Record<WireDialectId, string>>> = {
  "openai-chat": "gpt-5",
  "openai-responses": "gpt-5",
  "anthropic-messages": "claude-opus-5",
  gemini: "gemini-3-pro",
  "gemini-interactions": "gemini-3-pro",
  "bedrock-converse": "amazon.nova-pro-v1:0",
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bytes = (body: unknown): Uint8Array => encoder.encode(JSON.stringify(body));
/** Some dialects show thoughts only to callers who ask for them. */
const turnWithReasoning: Turn = { ...emptyTurn, reasoning: { effort: "high", budgetTokens: null, visible: true } };

function newIds(): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}${++count}`;
}

/** Translates a caller's request for an upstream dialect. */
export function carryRequest(endpoint: Generating, dialect: WireDialectId, body: unknown): Outcome {
  const { caller, upstream } = codecs(endpoint, dialect);
  return outcomeOf((warn) => {
    const turn = caller.readTurn(bytes(body), { model: "m", stream: false }, warn);
    const upstreamModel = upstreamModels[dialect] ?? "up";
    return decoder.decode(upstream.writeTurn(turn, { upstreamModel, account: "a", traits: {}, newId: newIds() }, warn));
  });
}

/** Translates an upstream's whole answer for a caller. */
export function carryAnswer(from: Generating, to: Generating, body: unknown): Outcome {
  const { caller, upstream } = codecs(to, dialectOf[from]);
  return outcomeOf((warn) => {
    const answer = upstream.readAnswer(bytes(body), { account: "a", newId: newIds(), warn });
    return decoder.decode(caller.writeAnswer(answer, contextOf(warn)));
  });
}

/** Translates an upstream's stream with one event added or replaced. */
export function placesIn(from: Generating, to: Generating): EventPlaces {
  const { caller, upstream } = codecs(to, dialectOf[from]);
  const defaultStream = streams[from];
  const defaultOf = (type: string): object | null =>
    defaultStream.find((event) => event !== null && eventType(event) === type) ?? null;
  return {
    defaultOf,
    with: (event) =>
      outcomeOf((warn) => {
        const writer = caller.writeEvents(contextOf(warn));
        let text = "";
        const source = { account: "a", newId: newIds(), warn };
        const reader = upstream.readEvents((answerEvent) => {
          if (answerEvent.kind === "error") throw answerEvent.failure;
          text += writer.write(answerEvent);
        }, source);
        const replaced = event === null ? null : defaultOf(eventType(event) ?? "");
        for (const one of defaultStream) {
          const upstreamEvent = one === null ? (replaced === null ? event : null) : one === replaced ? event : one;
          if (upstreamEvent !== null) reader.read(JSON.stringify(upstreamEvent));
        }
        reader.end();
        return text;
      }),
  };
}

function contextOf(warn: (what: string) => void) {
  return { turn: turnWithReasoning, model: "m", account: "a", createdAt: 1, wantsUsage: true, newId: newIds(), warn };
}

function codecs(endpoint: Generating, dialect: WireDialectId) {
  const caller = endpointProtocols[endpoint].codec;
  const upstream = upstreamSide(dialect).codec;
  if (caller === null || upstream === null) throw new Error("no codec");
  return { caller, upstream };
}
