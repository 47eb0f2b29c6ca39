import type { Turn, WireDialectId } from "#core/index.ts";
import { callerSide, upstreamSide } from "#protocols/index.ts";
import { emptyTurn } from "../../conformance/turn-arbitraries.ts";
import { type EventPlaces, type Outcome, outcomeOf } from "./lost-fields.ts";
import { type Generating, streams } from "./usual-bodies.ts";

export const dialectOf = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic-messages",
  generate: "gemini",
} as const satisfies Record<Generating, WireDialectId>;

/** Upstreams by their dialect, with a model of each. */
export const upstreamModels: Readonly<Partial<Record<WireDialectId, string>>> = {
  "openai-chat": "gpt-5",
  "openai-responses": "gpt-5",
  "anthropic-messages": "claude-opus-5",
  gemini: "gemini-3-pro",
  "bedrock-converse": "amazon.nova-pro-v1:0",
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bytes = (body: unknown): Uint8Array => encoder.encode(JSON.stringify(body));
/** Some dialects show thoughts only to those who asked for them. */
const curious: Turn = { ...emptyTurn, reasoning: { effort: "high", budgetTokens: null, visible: true } };

function newIds(): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}${++count}`;
}

/** A caller's request as it reaches an upstream of this dialect. */
export function carryRequest(endpoint: Generating, dialect: WireDialectId, body: unknown): Outcome {
  const { caller, upstream } = codecs(endpoint, dialect);
  return outcomeOf((warn) => {
    const turn = caller.readTurn(bytes(body), { model: "m", stream: false }, warn);
    const upstreamModel = upstreamModels[dialect] ?? "up";
    return decoder.decode(upstream.writeTurn(turn, { upstreamModel, account: "a", traits: {}, newId: newIds() }, warn));
  });
}

/** An upstream's whole answer as it reaches a caller. */
export function carryAnswer(from: Generating, to: Generating, body: unknown): Outcome {
  const { caller, upstream } = codecs(to, dialectOf[from]);
  return outcomeOf((warn) => {
    const answer = upstream.readAnswer(bytes(body), { account: "a", newId: newIds(), warn });
    return decoder.decode(caller.writeAnswer(answer, contextOf(warn)));
  });
}

/** An upstream's stream, with one event in its place. */
export function placesIn(from: Generating, to: Generating): EventPlaces {
  const { caller, upstream } = codecs(to, dialectOf[from]);
  const usual = streams[from];
  const usualOf = (type: string): object | null =>
    usual.find((event) => event !== null && (event as { type?: string }).type === type) ?? null;
  return {
    usualOf,
    with: (event) =>
      outcomeOf((warn) => {
        const writer = caller.writeEvents(contextOf(warn));
        let text = "";
        const source = { account: "a", newId: newIds(), warn };
        const reader = upstream.readEvents((said) => {
          if (said.kind === "error") throw said.failure;
          text += writer.write(said);
        }, source);
        const replaced = event === null ? null : usualOf((event as { type: string }).type);
        for (const one of usual) {
          const said = one === null ? (replaced === null ? event : null) : one === replaced ? event : one;
          if (said !== null) reader.read(JSON.stringify(said));
        }
        reader.end();
        return text;
      }),
  };
}

function contextOf(warn: (what: string) => void) {
  return { turn: curious, model: "m", account: "a", createdAt: 1, wantsUsage: true, newId: newIds(), warn };
}

function codecs(endpoint: Generating, dialect: WireDialectId) {
  const caller = callerSide(endpoint).codec;
  const upstream = upstreamSide(dialect).codec;
  if (caller === null || upstream === null) throw new Error("no codec");
  return { caller, upstream };
}
