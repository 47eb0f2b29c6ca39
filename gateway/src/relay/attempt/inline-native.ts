import { type BodyOutcome, outcomeOf } from "#bodies/index.ts";
import { bounds, type Provider } from "#core/index.ts";
import { mayNameMedia } from "#protocols/index.ts";
import { type Lane, mayFetch } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import type { CallTally } from "./call-tally.ts";
import { type FetchedBytes, fetchAll } from "./inline-media.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

/**
 * A body for an upstream that fetches nothing, with what stands at its addresses in their place: it cannot (Claude on Bedrock),
 * or it stands in a private network and would fetch from where no caller may look. Fetched here, they go through the guard.
 * Throws Failure invalid_request.
 */
export function inlinedWhereNotFetched(
  dependencies: RelayDependencies,
  call: Call,
  body: Uint8Array,
  { provider, lane, tally }: { readonly provider: Provider; readonly lane: Lane; readonly tally: CallTally },
): Uint8Array | Promise<Uint8Array> {
  if (!mayNeedInlining(call, provider, lane)) return body;
  // Of a small body it costs less to look than to hand it to a job that looks.
  if (body.length <= bounds.readInPlaceBytesMax && !mayNameMedia(body)) return body;
  return inlined(dependencies, call, body, tally);
}

/** Whether addresses in the body would have to give way to what stands there. */
export function mayNeedInlining({ facts, marks, protocol }: Call, provider: Provider, lane: Lane): boolean {
  if (
    facts.namesMedia === false ||
    marks?.addresses === false ||
    (mayFetch(provider) && lane.traits?.fetchesUrls !== false)
  )
    return false;
  return withMedia.has(protocol.endpoint);
}

async function inlined(
  dependencies: RelayDependencies,
  call: Call,
  body: Uint8Array,
  tally: CallTally,
): Promise<Uint8Array> {
  const looked = await work(dependencies, call, body, null);
  const urls = looked.outcome.answer;
  if (urls.length === 0) return looked.body;
  const beganMs = dependencies.clock.monotonic();
  const found = await fetchAll(urls, { transport: dependencies.transport, signal: call.signal });
  // What others' hosts take is not our own time.
  tally.awayMs += dependencies.clock.monotonic() - beganMs;
  return madeBy((await work(dependencies, call, looked.body, found)).outcome);
}

/** In a thread where the body is large. It may be the call's own, which another deployment may be tried with. */
async function work(
  dependencies: RelayDependencies,
  call: Call,
  body: Uint8Array,
  found: ReadonlyMap<string, FetchedBytes> | null,
): Promise<{ readonly body: Uint8Array; readonly outcome: BodyOutcome<"inline"> }> {
  const media = found === null ? null : [...found].map(([url, { mediaType }]) => ({ url, mediaType }));
  const beside = found === null ? [] : [...found.values()].map(({ bytes }) => bytes);
  if (call.body === body) {
    const outcome = await workOnCall(dependencies.bodies, call, "inline", media, beside);
    return { body: call.body instanceof Uint8Array ? call.body : body, outcome };
  }
  const done = await dependencies.bodies.do("inline", media, body, { beside, signal: call.signal });
  return { body: done.body, outcome: outcomeOf(done) };
}

const withMedia: ReadonlySet<string> = new Set([
  ...["chat", "responses", "responses-compact", "input-tokens", "messages", "count-tokens"],
]);
