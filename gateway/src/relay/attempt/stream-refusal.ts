import type { Failure } from "#core/index.ts";
import { type Dialect, objectOf, parseObject, textOf } from "#protocols/index.ts";
import { inWordsOf, type RefusedBy } from "./upstream-refusal.ts";
import { inSafeWords, upstreamWords } from "./upstream-words.ts";

/**
 * An error that an upstream tells in a stream, as the refusal with a status that it would have been: what the provider's kind
 * makes of that, with a body in the caller's dialect. Before the stream has begun it is answered so, after that as an event.
 */
export function refusalInStream(
  call: { readonly dialect: Dialect; readonly requestId: string },
  { kind, errorDialect, heard }: Pick<RefusedBy, "kind" | "errorDialect" | "heard">,
  told: Failure,
): Failure {
  const safe = inSafeWords(told).with({ arrival: "refused" });
  const { upstream } = told;
  if (upstream === undefined) return safe;
  heard?.(told.message);
  const { status } = upstream;
  const body = withSafeWords(upstream.body);
  // The time is for a Retry-After, which only headers hold.
  const failure = kind.classify({ status, headers: new Headers(), body, now: 0 });
  const words = failure.accountFault === null ? { message: safe.message } : {};
  return inWordsOf(call, errorDialect, failure.with({ ...words, contextLength: told.contextLength }));
}

/** A refusal that is an object with an `error`, whose message may name the account. */
function withSafeWords(body: Uint8Array): Uint8Array {
  const refusal = parseObject(decoder.decode(body)) ?? {};
  const error = objectOf(refusal["error"]);
  const message = upstreamWords(textOf(error["message"]) ?? textOf(refusal["error"]) ?? "unknown error");
  return encoder.encode(JSON.stringify({ ...refusal, error: { ...error, message } }));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
