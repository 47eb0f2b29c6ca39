import type { GuardrailSide } from "@sluice/contract/words";
import {
  type BodySink,
  Failure,
  type Guardrail,
  type GuardrailVerdict,
  type LiveBody,
  redactedText,
} from "#core/index.ts";
import { asBuffer, type CallEndpointId, type EndpointProtocol, endpointProtocols, textsOf } from "#protocols/index.ts";
import { CallGuard, guardedInPlaceBytesMax } from "./call-guard.ts";
import { GuardedStream } from "./guarded-stream.ts";
import { policyFor } from "./policy.ts";

/** How to read the captured bodies of a request. Plain data. */
export interface CapturedAsk {
  /** Its check finds places. Models and services do not judge captured bodies. */
  readonly guardrail: Guardrail;
  readonly endpoint: CallEndpointId;
  /** The answer is a stream of events. */
  readonly isStream: boolean;
}

/** The guardrail's result for the request or the answer. Plain data, without the text. */
export interface CapturedOutcome {
  readonly side: GuardrailSide;
  readonly verdict: GuardrailVerdict;
  readonly counts: Readonly<Record<string, number>>;
  /** The body was not captured as text. */
  readonly isUnreadable: boolean;
  /** Credentials were removed before it was stored. */
  readonly isRedacted: boolean;
}

/**
 * Checks captured bodies like the bodies of a live call, with the guardrail enforced. An answer is not checked if the request would have been
 * blocked. null: not captured.
 */
export function inspectCaptured(
  { guardrail: given, endpoint, isStream }: CapturedAsk,
  request: Uint8Array | null,
  answer: Uint8Array | null,
): readonly CapturedOutcome[] {
  const guardrail = { ...given, enforce: true };
  const guard = new CallGuard({
    policy: policyFor([guardrail]),
    secret: () => "captured",
    nowMs: () => 0,
    cpuMs: () => 0,
    checkMsMax: () => Number.POSITIVE_INFINITY,
    remote: notHere,
    inspectLarge: notHere,
    onRecords: () => {},
  });
  // Calls of a provider's own API have none.
  const protocol: EndpointProtocol | undefined = endpointProtocols[endpoint];
  const dialect = protocol?.wireDialect ?? "any";
  const check = (side: GuardrailSide, body: Uint8Array | null, inspect: (body: Uint8Array) => unknown) => {
    if (body === null || guard.side(side).all.length === 0) return [];
    const isUnreadable = isNote(body);
    const isRedacted = asBuffer(body).includes(redactedText);
    try {
      if (isUnreadable) guard.unreadable(side);
      else inspect(body.subarray(0, guardedInPlaceBytesMax));
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
    }
    return guard.records
      .filter((record) => record.side === side)
      .map(({ verdict, counts }) => ({ side, verdict, counts, isUnreadable, isRedacted }));
  };
  // Cut JSON is read as text.
  const whole = (side: GuardrailSide) => (body: Uint8Array) =>
    guard.checkBody(isJson(body) ? dialect : "any", side, body);
  const input = check("input", request, whole("input"));
  if (input.some(({ verdict }) => verdict === "blocked")) return input;
  const streamed = (body: Uint8Array) =>
    drain(
      new GuardedStream({
        ...{ guard, body: new StoredBody(body), shape: textsOf(dialect).stream },
        keepAlive: protocol?.dialect.keepAlive ?? "",
        errorEvent: () => new Uint8Array(0),
      }),
    );
  return [...input, ...check("output", answer, isStream ? streamed : whole("output"))];
}

/** Captures contain such a note in place of bodies that are not text. */
function isNote(body: Uint8Array): boolean {
  return body.length < noteBytesMax && /^\[[^\]\n]*, \d+ bytes\]$/.test(asBuffer(body).toString());
}

const noteBytesMax = 256;

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(asBuffer(body).toString());
    return true;
  } catch {
    return false;
  }
}

function notHere(): never {
  throw new Error("only for live calls");
}

/** A stored body as one piece. */
class StoredBody implements LiveBody {
  #rest: Uint8Array | null;

  constructor(body: Uint8Array) {
    this.#rest = body;
  }

  pull(sink: BodySink, answered: () => void): void {
    if (this.#rest === null) sink.close();
    else sink.enqueue(this.#rest);
    this.#rest = null;
    answered();
  }

  cancel(): void {
    this.#rest = null;
  }
}

/** Reads to the end. Nothing of a stored body is waited for. */
function drain(body: LiveBody): void {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  while (!isOver) {
    let isAnswered = false;
    body.pull({ enqueue: () => {}, close: end, error: end }, () => {
      isAnswered = true;
    });
    if (!isAnswered && !isOver) throw new Error("a stored body was not read to its end");
  }
}
