import { asFailure, bounds, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import { type Lane, type ProviderKind, providerKind } from "#providers/index.ts";
import type { Pick } from "#routing/index.ts";
import { answerHeaders } from "./answer-headers.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { Call, Delivery } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import type { RelayHouse } from "./house.ts";
import { NativeStream } from "./native-stream.ts";
import { forwardedHeaders } from "./request-headers.ts";

/**
 * One try against one deployment. Resolves once an answer has begun; from then on no retry is possible. Until then
 * it throws a Failure that says what may be tried next, with its ledger entry settled.
 */
export async function openAttempt(house: RelayHouse, call: Call, pick: Pick, tally: CallTally): Promise<Delivery> {
  const kind = providerKind(pick.deployment.provider.kind);
  const lane = kind?.lanes[call.endpoint];
  if (kind === null || lane === undefined || lane.dialect !== call.dialect.id) {
    pick.end("cancelled", 0);
    throw new Failure("unsupported_by_model", `The model "${pick.model.name}" cannot be used on this endpoint.`, {
      param: "model",
      retry: "other",
    });
  }
  tally.attempts++;
  const attempt = attemptSignal(call, pick);
  const entry = beginEntry(house, call, pick, lane, tally);
  try {
    if (house.catalog().settings.ledgerDurability === "strict") await house.journal.synced();
    const answer = await send(house, call, pick, kind, lane, entry, attempt.signal);
    if (answer.status < 200 || answer.status > 299) throw await refusalOf(house, pick, kind, answer);
    const type = answer.headers.get("content-type") ?? "";
    return type.startsWith("text/event-stream")
      ? await openStream(house, call, pick, tally, entry, answer)
      : await takeWhole(call, pick, tally, entry, answer);
  } catch (thrown) {
    const failure = call.signal.aborted ? callerGone(thrown) : asFailure(thrown);
    entry.fail(failure);
    throw failure;
  } finally {
    attempt.answered();
  }
}

function beginEntry(house: RelayHouse, call: Call, pick: Pick, lane: Lane, tally: CallTally): AttemptEntry {
  try {
    return new AttemptEntry(house, call, pick, lane, tally);
  } catch (thrown) {
    pick.end("cancelled", 0);
    throw thrown;
  }
}

function send(
  house: RelayHouse,
  call: Call,
  pick: Pick,
  kind: ProviderKind,
  lane: Lane,
  entry: AttemptEntry,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { provider, upstreamModel } = pick.deployment;
  const headers = forwardedHeaders(call.headers);
  headers["content-type"] = "application/json";
  headers["x-attempt-id"] = entry.attemptId;
  headers["user-agent"] ??= "sluice";
  kind.authorize(provider, headers);
  const body = call.dialect.patchRequest(call.body, call.facts, upstreamModel);
  entry.sending();
  return house.transport.send(
    {
      method: "POST",
      url: provider.baseUrl + lane.path,
      headers,
      body,
      connectMs: provider.timeouts.connectMs,
      headersMs: provider.timeouts.headersMs,
      totalMs: provider.timeouts.totalMs,
      allowPrivateNetwork: provider.allowPrivateNetwork,
    },
    signal,
  );
}

/**
 * The caller's going away ends the attempt. Where the upstream is to be let finish, that holds only until an answer
 * has begun: from then on the stream itself decides.
 */
function attemptSignal(call: Call, pick: Pick): { readonly signal: AbortSignal; readonly answered: () => void } {
  if (pick.deployment.provider.disconnect === "cancel") return { signal: call.signal, answered: () => {} };
  const own = new AbortController();
  const gone = (): void => own.abort();
  if (call.signal.aborted) own.abort();
  else call.signal.addEventListener("abort", gone, { once: true });
  return { signal: own.signal, answered: () => call.signal.removeEventListener("abort", gone) };
}

/** A bad answer, read within bounds, as the provider's kind understands it. */
async function refusalOf(house: RelayHouse, pick: Pick, kind: ProviderKind, answer: OutboundAnswer): Promise<Failure> {
  const { idleMs } = pick.deployment.provider.timeouts;
  const body = await answer.body.readAll(bounds.errorBodyBytesMax, "idle", idleMs);
  return kind.classify({ status: answer.status, headers: answer.headers, body, now: house.clock.now() });
}

/** A whole reply: read, checked and settled before the caller sees a byte of it. */
async function takeWhole(
  call: Call,
  pick: Pick,
  tally: CallTally,
  entry: AttemptEntry,
  answer: OutboundAnswer,
): Promise<Delivery> {
  const { idleMs } = pick.deployment.provider.timeouts;
  const body = await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs);
  const facts = call.dialect.readReply(body);
  if (facts.errorMessage !== null) {
    throw new Failure("upstream_error", `The upstream reported an error: ${facts.errorMessage}`, {
      retry: "other",
      unwell: true,
    });
  }
  entry.firstByte();
  entry.succeed(answer.status, facts.usage, facts.outputEstimate);
  tally.end();
  return { status: answer.status, headers: answerHeaders(call, pick, tally, entry.overheadMs, answer.headers), body };
}

/** A stream is held back until its first whole event, so that a failure before it can still go elsewhere. */
async function openStream(
  house: RelayHouse,
  call: Call,
  pick: Pick,
  tally: CallTally,
  entry: AttemptEntry,
  answer: OutboundAnswer,
): Promise<Delivery> {
  const { firstEventMs } = pick.deployment.provider.timeouts;
  const tap = call.dialect.tapStream(call.facts.stream && !call.facts.wantsUsage);
  const deadlineMs = house.clock.monotonic() + firstEventMs;
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (tap.events === 0) {
    const leftMs = Math.max(1, deadlineMs - house.clock.monotonic());
    const chunk = await answer.body.read("first_event", leftMs);
    if (chunk === null) throw truncated("The upstream's stream ended before its first event.");
    const whole = tap.push(chunk);
    if (whole.length > 0) pieces.push(whole);
    size += whole.length;
    if (size > bounds.eventBytesMax) throw truncated("The upstream sent only comments.");
  }
  if (tap.failure !== null) {
    answer.body.cancel();
    throw tap.failure;
  }
  entry.firstByte();
  const first = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  const stream = new NativeStream({ house, call, pick, tally, entry, answer, tap, first });
  return {
    status: answer.status,
    headers: answerHeaders(call, pick, tally, entry.overheadMs, answer.headers),
    body: stream.open(),
  };
}

function truncated(message: string): Failure {
  return new Failure("upstream_truncated", message, { retry: "other", unwell: true });
}

function callerGone(thrown: unknown): Failure {
  return new Failure("client_closed", "The caller went away.", { cause: thrown });
}
