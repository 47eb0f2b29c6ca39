import { asFailure, Failure, type LiveBody, type Provider, type Redactor, type UpstreamObject } from "#core/index.ts";
import { freeRequest, type Permit } from "#limits/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import { isEventStreamType } from "#protocols/index.ts";
import {
  type Lane,
  lanesOf,
  laneUrl,
  type OutboundDraft,
  type ProviderKind,
  providerKind,
  withQuery,
} from "#providers/index.ts";
import { passAtOnce, passedHeaders } from "../attempt/answer-headers.ts";
import { AnswerStream } from "../attempt/answer-stream.ts";
import { continueTrace, forwardedHeaders, ownIdempotencyKeys } from "../attempt/outbound.ts";
import { PieceQueue } from "../attempt/piece-queue.ts";
import { readWhole } from "../attempt/receive-answer.ts";
import { attemptRedactor, inSafeWords, refusalOf } from "../attempt/upstream-refusal.ts";
import type { Call, CallResult, RelayDependencies } from "../call.ts";

/** A request to an account about a response that it stores. */
interface StoredResponseRequest {
  readonly upstreamId: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** The path after the id: empty, `/cancel` or `/input_items`. */
  readonly rest: string;
}

/** A call that reads, cancels or deletes a response that an upstream stores. */
export interface StoredResponseCall
  extends StoredResponseRequest,
    Pick<
      Call,
      "requestId" | "principal" | "protocol" | "query" | "headers" | "signal" | "startedMs" | "mayCall" | "streamEnd"
    > {}

/**
 * Sends the call to the account that stores the response. It is free, even if no budget is left: the call that made the response pays,
 * or the task of a background response. Before a background response is ended or deleted, it is polled.
 */
export async function askResponseOwner(dependencies: RelayDependencies, call: StoredResponseCall): Promise<CallResult> {
  const { principal, upstreamId, signal } = call;
  const workspaceId = principal.workspace.id;
  try {
    const found = await dependencies.upstreamObjects.find(workspaceId, [upstreamId], { waits: true, signal });
    const response = found.get(upstreamId);
    if (response?.kind !== "response" || !call.mayCall(response.model)) throw notFound(upstreamId);
    const permit = await dependencies.admission.admit(principal, freeRequest, call.requestId);
    try {
      if (call.method !== "GET") await dependencies.background().refresh(workspaceId, upstreamId, signal);
      const account = accountOf(dependencies, call, response);
      const redactor = attemptRedactor(account.provider, call.headers);
      return await forward({ ...account, dependencies, call, response, permit, redactor });
    } catch (thrown) {
      permit.settle(0);
      throw thrown;
    }
  } catch (thrown) {
    const failure = signal.aborted ? new Failure("client_closed", "The caller went away.") : asFailure(thrown);
    return { failure, headers: {} };
  }
}

interface Account {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  /** The lane for Responses. */
  readonly lane: Lane;
}

interface ForwardedCall extends Account {
  readonly dependencies: RelayDependencies;
  readonly call: StoredResponseCall;
  readonly response: UpstreamObject;
  readonly permit: Permit;
  readonly redactor: Redactor;
}

async function forward(forwarded: ForwardedCall): Promise<CallResult> {
  try {
    const answer = await send(forwarded);
    try {
      return await deliver(forwarded, answer);
    } catch (thrown) {
      answer.body.cancel();
      throw thrown;
    }
  } catch (thrown) {
    throw forwarded.redactor.failure(asFailure(thrown));
  }
}

async function send(forwarded: ForwardedCall): Promise<OutboundAnswer> {
  const { dependencies, call, response, provider, kind } = forwarded;
  const { requestId, signal } = call;
  const { upstreamModel } = response;
  const draft = storedResponseDraft(forwarded, { ...call, upstreamModel });
  Object.assign(draft.headers, forwardedHeaders(call.headers, provider));
  ownIdempotencyKeys(draft.headers, call.principal.workspace.id, upstreamModel);
  // There is no attempt: the parent span is the call.
  continueTrace(draft.headers, dependencies.tracing, { requestId, attemptId: requestId, provider });
  draft.url = withQuery(draft.url, call.query);
  await dependencies.providerClient.authorize(kind, draft, signal);
  return dependencies.providerClient.send(draft, provider.timeouts, signal);
}

async function deliver(forwarded: ForwardedCall, answer: OutboundAnswer): Promise<CallResult> {
  const { dependencies, call, response, permit, provider, kind, redactor } = forwarded;
  const { status } = answer;
  if (status < 200 || status > 299) {
    const { wireDialect: errorDialect } = call.protocol;
    throw await refusalOf(dependencies, call, { provider, kind, errorDialect }, answer);
  }
  const headers = passedHeaders(provider, answer.headers, false);
  headers["content-type"] ??= "application/json";
  headers["x-request-id"] = call.requestId;
  headers["x-sluice-provider"] = provider.id;
  if (isEventStreamType(headers["content-type"])) {
    passAtOnce(headers);
    return { status, headers, body: openStream(forwarded, answer) };
  }
  const { idleMs } = provider.timeouts;
  return await readWhole(dependencies.memory, call.principal, { answer, idleMs }, async (body) => {
    permit.settle(0);
    if (call.method === "DELETE") await endObject(dependencies, response);
    const isFailed = Buffer.from(body.buffer, body.byteOffset, body.length).includes('"failed"');
    return { status, headers, body: isFailed ? redactor.bytes(body) : body };
  });
}

/** The vendor has deleted it, whether that can be recorded or not. */
async function endObject({ upstreamObjects, observer }: RelayDependencies, response: UpstreamObject): Promise<void> {
  try {
    await upstreamObjects.end(response);
  } catch (error) {
    observer.log("warn", "failed to record a deleted response", { id: response.id, error });
  }
}

function openStream(
  { dependencies, call, permit, provider, redactor }: ForwardedCall,
  answer: OutboundAnswer,
): LiveBody {
  return new AnswerStream({
    dependencies,
    call,
    entry: { progress: () => null, finish() {}, breakOff() {}, redactor },
    tally: { end: () => permit.settle(0) },
    answer,
    tap: call.protocol.wire.tapStream(false),
    inStream: inSafeWords,
    waiting: new PieceQueue({ redactor }),
    pending: null,
    place: dependencies.memory.open(call.principal, "event"),
    idleMs: provider.timeouts.idleMs,
    drains: false,
  }).open();
}

export function storedResponseDraft(
  { provider, lane }: Pick<Account, "provider" | "lane">,
  { upstreamId, method, rest, upstreamModel }: StoredResponseRequest & { readonly upstreamModel: string },
): OutboundDraft {
  const draft: OutboundDraft = {
    provider,
    upstreamModel,
    stream: false,
    method,
    url: laneUrl(provider, lane, upstreamModel, false),
    headers: method === "POST" ? { "content-type": "application/json" } : {},
    body: null,
  };
  // Azure's dated API has another address, with its version in the query.
  lane.adjust?.(draft, () => {});
  const [path, ...query] = draft.url.split("?");
  draft.url = [`${path}/${encodeURIComponent(upstreamId)}${rest}`, ...query].join("?");
  if (method === "POST") draft.body = new TextEncoder().encode("{}");
  return draft;
}

function accountOf(dependencies: RelayDependencies, call: StoredResponseCall, response: UpstreamObject): Account {
  const provider = dependencies.configSnapshot().providers.get(response.provider);
  const kind = provider === undefined ? null : providerKind(provider.kind);
  if (provider === undefined || !provider.enabled || kind === null) {
    throw new Failure("no_deployment_available", "The account that stores this response is not available.");
  }
  const lane = lanesOf(kind, provider).find(({ endpoint }) => endpoint === call.protocol.endpoint);
  if (lane === undefined) throw notFound(call.upstreamId);
  return { provider, kind, lane };
}

function notFound(upstreamId: string): Failure {
  return new Failure("not_found", `There is no response with the id "${upstreamId.slice(0, 128)}".`, { param: "id" });
}
