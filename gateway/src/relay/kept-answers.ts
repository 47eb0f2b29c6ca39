import { asFailure, bounds, Failure, type Provider } from "#core/index.ts";
import { nothingWanted, type Permit, type Spent } from "#limits/index.ts";
import type { AnswerKeeper, OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import { lanesOf, type OutboundDraft, type ProviderKind, providerKind, rootOf } from "#providers/index.ts";
import { passAtOnce } from "./answer-headers.ts";
import { AnswerStream, type StreamEntry } from "./answer-stream.ts";
import type { CallResult } from "./call.ts";
import { withQuery } from "./forwarded-query.ts";
import type { RelayHouse } from "./house.ts";
import { ownIdempotencyKeys } from "./idempotency-key.ts";
import type { KeptCall } from "./kept-call.ts";
import { type Heard, heardReply, heardStream } from "./measured-usage.ts";
import { refusalOf } from "./refusal.ts";
import { forwardedHeaders } from "./request-headers.ts";
import { signalUntilAnswered } from "./signal-until-answered.ts";

/**
 * Sends it to the one account that keeps the answer; there is nothing to fall back to. An answer that was made in the
 * background is paid for when its usage is first seen, and the limits of whoever sees it are told.
 */
export async function askKeeper(house: RelayHouse, call: KeptCall): Promise<CallResult> {
  try {
    const keeper = await house.keepers.find(call.principal.workspace.id, call.upstreamId);
    if (keeper === null || !call.mayCall(keeper.model)) throw notFound(call.upstreamId);
    const admitted = house.admission.admit(call.principal, nothingWanted);
    const permit = admitted instanceof Promise ? await admitted : admitted;
    const sending = signalUntilAnswered(call.signal, !keeper.paid);
    try {
      const asked: Asked = { house, call, keeper, permit };
      const { account, answer } = await send(asked, sending.signal);
      return await deliver(asked, account, answer);
    } catch (thrown) {
      permit.settle(nothing);
      throw thrown;
    } finally {
      sending.answered();
    }
  } catch (thrown) {
    return {
      failure: call.signal.aborted ? new Failure("client_closed", "The caller went away.") : asFailure(thrown),
      headers: {},
    };
  }
}

interface Asked {
  readonly house: RelayHouse;
  readonly call: KeptCall;
  readonly keeper: AnswerKeeper;
  readonly permit: Permit;
}

const nothing: Spent = { tokens: 0 };

async function send(
  { house, call, keeper }: Asked,
  signal: AbortSignal,
): Promise<{ readonly account: Account; readonly answer: OutboundAnswer }> {
  const account = accountOf(house, call, keeper);
  const { provider, kind, path } = account;
  const headers = forwardedHeaders(call.headers, provider);
  ownIdempotencyKeys(headers, { workspaceId: call.principal.workspace.id, upstreamModel: keeper.upstreamModel });
  headers["user-agent"] ??= "sluice";
  const url = `${rootOf(provider)}${path}/${encodeURIComponent(call.upstreamId)}${call.rest}`;
  const draft: OutboundDraft = {
    provider,
    upstreamModel: keeper.upstreamModel,
    stream: false,
    method: call.method,
    url: withQuery(url, call.query),
    headers,
    body: call.method === "POST" ? emptyObject : null,
  };
  const token = kind.tokens === undefined ? null : await house.tokens.tokenOf(provider, kind.tokens, signal);
  await kind.authorize(draft, { now: house.clock.now(), token });
  const { connectMs, headersMs, totalMs } = provider.timeouts;
  const answer = await house.transport.send(
    {
      method: draft.method,
      url: draft.url,
      headers,
      body: draft.body,
      connectMs,
      headersMs,
      totalMs,
      allowPrivateNetwork: provider.allowPrivateNetwork,
    },
    signal,
  );
  return { account, answer };
}

async function deliver(asked: Asked, account: Account, answer: OutboundAnswer): Promise<CallResult> {
  const { house, call, permit } = asked;
  const { provider, kind } = account;
  const { idleMs } = provider.timeouts;
  try {
    if (answer.status < 200 || answer.status > 299) throw await refused(house, call, provider, kind, answer);
    const headers = answerHeaders(call, provider, answer);
    if (headers["content-type"]?.startsWith("text/event-stream") === true) {
      passAtOnce(headers);
      return { status: answer.status, headers, body: openStream(asked, answer, idleMs) };
    }
    const body = await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs);
    // Both show the answer itself; what is asked about it otherwise does not.
    const shows = call.rest === "" ? call.method === "GET" : call.rest === "/cancel";
    permit.settle(shows ? await paid(asked, heardReply(call.speech.wire.readReply(body), unknownInput)) : nothing);
    return { status: answer.status, headers, body };
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

/**
 * A stream of an answer that is not paid for yet is read to its end even when its caller goes away: only there the
 * upstream says what was used.
 */
function openStream(asked: Asked, answer: OutboundAnswer, idleMs: number): ReadableStream<Uint8Array> {
  const { house, call, keeper, permit } = asked;
  const tap = call.speech.wire.tapStream(false);
  const end = (heard: StreamTap): void => {
    void paid(asked, heard.usageFinal ? heardStream(heard, unknownInput) : null).then((spent) => permit.settle(spent));
  };
  const entry: StreamEntry = {
    progress: () => null,
    finish: (_status, heard) => end(heard),
    breakOff: (_outcome, _failure, heard) => end(heard),
  };
  const { dialect } = call.speech;
  const over = (): void => {};
  const drains = !keeper.paid;
  const first = noBytes;
  return new AnswerStream({ house, call, dialect, entry, over, answer, tap, first, idleMs, drains }).open();
}

function paid({ house, call, keeper }: Asked, heard: Heard | null): Promise<Spent> {
  return house.bills.settle(call, keeper, heard);
}

/** The request was another call's. */
const unknownInput = (): number => 0;

interface Account {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  readonly path: string;
}

function accountOf(house: RelayHouse, call: KeptCall, keeper: AnswerKeeper): Account {
  const provider = house.catalog().providers.get(keeper.provider);
  const kind = provider === undefined ? null : providerKind(provider.kind);
  if (provider === undefined || !provider.enabled || kind === null) {
    throw new Failure("no_deployment_available", "The account that keeps this answer is not available.");
  }
  const lane = lanesOf(kind, provider).find(({ endpoint }) => endpoint === call.speech.endpoint);
  if (lane === undefined) throw notFound(call.upstreamId);
  return { provider, kind, path: lane.path };
}

async function refused(
  house: RelayHouse,
  call: KeptCall,
  provider: Provider,
  kind: ProviderKind,
  answer: OutboundAnswer,
): Promise<Failure> {
  const { speech, requestId } = call;
  const spoken = { provider, errorDialect: speech.bodies, idleMs: provider.timeouts.idleMs, kind };
  return refusalOf(house, { dialect: speech.dialect, requestId }, spoken, answer);
}

function answerHeaders(call: KeptCall, provider: Provider, answer: OutboundAnswer): Record<string, string> {
  const out: Record<string, string> = {
    "content-type": answer.headers.get("content-type") ?? "application/json",
    "x-request-id": call.requestId,
    "x-sluice-provider": provider.id,
  };
  const upstreamRequestId = answer.headers.get("x-request-id");
  if (upstreamRequestId !== null) out["x-sluice-upstream-request-id"] = upstreamRequestId;
  return out;
}

function notFound(upstreamId: string): Failure {
  return new Failure("not_found", `There is no answer with the id "${upstreamId.slice(0, 128)}".`, { param: "id" });
}

const noBytes = new Uint8Array(0);
const emptyObject = new TextEncoder().encode("{}");
