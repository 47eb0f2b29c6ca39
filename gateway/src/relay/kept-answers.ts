import { asFailure, bounds, Failure, type Provider } from "#core/index.ts";
import type { AnswerKeeper, OutboundAnswer } from "#ports/index.ts";
import type { ReplyFacts, StreamTap } from "#protocols/index.ts";
import { lanesOf, type OutboundDraft, type ProviderKind, providerKind, rootOf } from "#providers/index.ts";
import type { CallResult } from "./call.ts";
import type { RelayHouse } from "./house.ts";
import type { KeptCall } from "./kept-call.ts";
import { withQuery } from "./outbound.ts";
import { passOn } from "./pass-on.ts";
import { refusalOf } from "./refusal.ts";
import { forwardedHeaders } from "./request-headers.ts";

/**
 * Sends it to the one account that keeps the answer; there is nothing to fall back to. An answer that was made in the
 * background is paid for when its usage is first seen.
 */
export async function askKeeper(house: RelayHouse, call: KeptCall): Promise<CallResult> {
  try {
    const keeper = await house.keepers.find(call.principal.workspace.id, call.upstreamId);
    if (keeper === null || !call.mayCall(keeper.model)) throw notFound(call.upstreamId);
    const admitted = house.admission.admit(call.principal, { tokens: 0, nanoUsd: 0 });
    const permit = admitted instanceof Promise ? await admitted : admitted;
    const over = (): void => {
      permit.settle({ tokens: 0, nanoUsd: 0 });
    };
    try {
      return await send(house, call, keeper, over);
    } catch (thrown) {
      over();
      throw thrown;
    }
  } catch (thrown) {
    return {
      failure: call.signal.aborted ? new Failure("client_closed", "The caller went away.") : asFailure(thrown),
      headers: {},
    };
  }
}

async function send(house: RelayHouse, call: KeptCall, keeper: AnswerKeeper, over: () => void): Promise<CallResult> {
  const { provider, kind, path } = accountOf(house, call, keeper);
  const headers = forwardedHeaders(call.headers);
  headers["user-agent"] ??= "sluice";
  const url = `${rootOf(provider)}${path}/${encodeURIComponent(call.upstreamId)}${call.rest}`;
  const draft: OutboundDraft = {
    provider,
    upstreamModel: keeper.upstreamModel,
    stream: false,
    method: call.method,
    url: call.query === "" ? url : withQuery(url, call.query),
    headers,
    body: call.method === "POST" ? emptyObject : null,
  };
  const token = kind.tokens === undefined ? null : await house.tokens.tokenOf(provider, kind.tokens);
  await kind.authorize(draft, { now: house.clock.now(), token });
  const { connectMs, headersMs, totalMs, idleMs } = provider.timeouts;
  const { method, body } = draft;
  const answer = await house.transport.send(
    {
      method,
      url: draft.url,
      headers,
      body,
      connectMs,
      headersMs,
      totalMs,
      allowPrivateNetwork: provider.allowPrivateNetwork,
    },
    call.signal,
  );
  if (answer.status < 200 || answer.status > 299) throw await refused(house, call, provider, kind, answer);
  const out = answerHeaders(call, provider, answer);
  const bill = (facts: Pick<ReplyFacts, "usage">): void => house.bills.settle(call, keeper, facts);
  if (out["content-type"]?.startsWith("text/event-stream") === true) {
    const tap = call.speech.wire.tapStream(false);
    const end = (heard: StreamTap): void => {
      if (heard.usageFinal) bill(heard);
      over();
      call.streamEnd();
    };
    return { status: answer.status, headers: out, body: passOn({ house, call, answer, tap, idleMs, end }) };
  }
  const reply = await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs);
  if (call.rest === "" && call.method === "GET") bill(call.speech.wire.readReply(reply));
  over();
  return { status: answer.status, headers: out, body: reply };
}

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
  const spoken = { errorDialect: speech.bodies, idleMs: provider.timeouts.idleMs, kind };
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

const emptyObject = new TextEncoder().encode("{}");
