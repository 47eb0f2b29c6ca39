import fc from "fast-check";
import type { Answer, AnswerEvent, FinishReason, Turn } from "#core/index.ts";
import type { AnswerContext, AnswerSource, CallerCodec, Dialect, TurnTarget, UpstreamCodec } from "#protocols/index.ts";
import { eventData, SseEvents } from "#protocols/stream/sse-events.ts";
import { answerOf } from "./codec-gist.ts";
import { emptyTurn } from "./turn-arbitraries.ts";

/** A dialect's codec, and what the dialect cannot express. */
export interface CodecProfile {
  readonly dialect: Dialect;
  readonly codec: CallerCodec & UpstreamCodec;
  /** Names of features (codec-features.ts) that are lost or changed, each with a warning. */
  readonly warned: readonly string[];
  /** Names of features that are refused, so that a deployment of another dialect can be tried. */
  readonly refused: readonly string[];
  /** Names of features that are dropped without a warning, with the reason why that is harmless. */
  readonly silent: Readonly<Record<string, string>>;
  /** Finish reasons that the dialect replaces with another one. */
  readonly finish: { readonly [K in FinishReason]?: FinishReason };
  /** The API accepts a result anywhere after its call. All others require it before the next answer. */
  readonly lateResults: boolean;
}

const encoder = new TextEncoder();
/** Some dialects show thoughts only to callers who ask for them. */
const turnWithReasoning: Turn = { ...emptyTurn, reasoning: { effort: "high", budgetTokens: null, visible: true } };

function ids(): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}new${++count}`;
}

export function source(): AnswerSource {
  return { account: "account-1", newId: ids(), warn: () => {} };
}

export function target(upstreamModel = "upstream-model"): TurnTarget {
  return { upstreamModel, account: "account-1", traits: {}, newId: ids() };
}

export function context(turn: Turn = turnWithReasoning): AnswerContext {
  return {
    turn,
    model: "public-model",
    account: "account-1",
    createdAt: 1_700_000_000,
    wantsUsage: true,
    newId: ids(),
    warn: () => {},
  };
}

/** A turn as the upstream's body and back, with the warnings of the first translation. */
export function roundTrip(codec: CallerCodec & UpstreamCodec, turn: Turn): { turn: Turn; warnings: string[] } {
  const warnings: string[] = [];
  const body = codec.writeTurn(turn, target(), (what) => warnings.push(what));
  return { turn: readBack(codec, body, turn.stream), warnings };
}

export function readBack(codec: CallerCodec, body: Uint8Array, stream: boolean): Turn {
  return codec.readTurn(body, { model: "upstream-model", stream }, () => {});
}

/** The bytes of a complete stream. */
export function streamBytes(
  codec: CallerCodec,
  events: readonly AnswerEvent[],
  turn: Turn = turnWithReasoning,
): Uint8Array {
  const writer = codec.writeEvents(context(turn));
  return encoder.encode(events.map((event) => writer.write(event)).join(""));
}

/** Reads the events of a stream whose bytes arrive cut at these positions. */
export function readStream(codec: UpstreamCodec, bytes: Uint8Array, cuts: readonly number[] = []): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  const reader = codec.readEvents((event) => events.push(event), source());
  const sse = new SseEvents();
  const positions = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  let from = 0;
  for (const to of [...positions, bytes.length]) {
    sse.push(bytes.slice(from, to), (buffer, start, end) => {
      const data = eventData(buffer, start, end);
      if (data !== "") reader.read(data);
    });
    from = to;
  }
  reader.end();
  return events;
}

export function streamedAnswer(codec: UpstreamCodec, bytes: Uint8Array, cuts: readonly number[] = []): Answer {
  return answerOf(readStream(codec, bytes, cuts));
}

/** An almost valid body of the dialect, with one value replaced. */
export function withReplacedValue(body: Uint8Array, at: number, value: unknown): Uint8Array {
  const root: unknown = JSON.parse(new TextDecoder().decode(body));
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const collect = (holder: unknown): void => {
    if (typeof holder !== "object" || holder === null) return;
    for (const [key, inner] of Object.entries(holder)) {
      places.push({ holder: holder as Record<string, unknown>, key });
      collect(inner);
    }
  };
  collect(root);
  const place = places[at % Math.max(1, places.length)];
  if (place !== undefined) place.holder[place.key] = value;
  return encoder.encode(JSON.stringify(root));
}

export const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, "", "x", [], {}, [null], [[]], [{}], { type: "x" }),
  // These cannot be converted to text.
  fc.constantFrom<unknown>({ toString: {} }, [{ toString: {} }]),
  fc.jsonValue({ maxDepth: 3 }),
);
