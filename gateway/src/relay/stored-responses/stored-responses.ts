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
import { readWhole } from "../attempt/receive-answer.ts";
import { PieceQueue } from "../attempt/stream-end.ts";
import { attemptRedactor, inSafeWords, refusalOf } from "../attempt/upstream-refusal.ts";
import type { Call, CallResult, RelayDependencies } from "../call.ts";

/** A request to an account about an answer that it keeps. */
interface StoredResponseRequest {
  readonly upstreamId: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** After the id in the path: nothing, `/cancel`, `/input_items`. */
  readonly rest: string;
}

/** A call that reads, cancels or deletes an answer that an upstream keeps. */
export interface StoredResponseCall
  extends StoredResponseRequest,
    Pick<
      Call,
      "requestId" | "principal" | "protocol" | "query" | "headers" | "signal" | "startedMs" | "mayCall" | "streamEnd"
    > {}

/**
 * Sends it to the account that keeps the answer. It is free, also without any budget left: the call that made the answer pays, or
 * the task of a background response. What ends or deletes such a response is preceded by a poll.
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
      return await ask({ ...accountOf(dependencies, call, response), dependencies, call, response, permit });
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
  /** That for Responses. */
  readonly lane: Lane;
}

interface Asked extends Account {
  readonly dependencies: RelayDependencies;
  readonly call: StoredResponseCall;
  readonly response: UpstreamObject;
  readonly permit: Permit;
}

async function ask(asked: Asked): Promise<CallResult> {
  try {
    return await deliver(asked, await send(asked));
  } catch (thrown) {
    throw attemptRedactor(asked.provider, asked.call.headers).failure(asFailure(thrown));
  }
}

async function send(asked: Asked): Promise<OutboundAnswer> {
  const { dependencies, call, response, provider, kind } = asked;
  const { requestId, signal } = call;
  const { upstreamModel } = response;
  const draft = storedResponseDraft(asked, { ...call, upstreamModel });
  Object.assign(draft.headers, forwardedHeaders(call.headers, provider));
  ownIdempotencyKeys(draft.headers, call.principal.workspace.id, upstreamModel);
  // There is no attempt: the parent span is the call.
  continueTrace(draft.headers, dependencies.tracing, { requestId, attemptId: requestId, provider });
  draft.url = withQuery(draft.url, call.query);
  await dependencies.providerClient.authorize(kind, draft, signal);
  const { connectMs, headersMs, totalMs } = provider.timeouts;
  return dependencies.providerClient.send(draft, { connectMs, headersMs, totalMs }, signal);
}

async function deliver(asked: Asked, answer: OutboundAnswer): Promise<CallResult> {
  const { dependencies, call, response, permit, provider, kind } = asked;
  const { status } = answer;
  try {
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
      return { status, headers, body: openStream(asked, answer) };
    }
    const { idleMs } = provider.timeouts;
    return await readWhole(dependencies.memory, call.principal, { answer, idleMs }, async (body) => {
      permit.settle(0);
      if (call.method === "DELETE") await endObject(dependencies, response);
      const isFailed = Buffer.from(body.buffer, body.byteOffset, body.length).includes('"failed"');
      return { status, headers, body: isFailed ? attemptRedactor(provider, call.headers).bytes(body) : body };
    });
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

/** The vendor has deleted it, whether that can be recorded or not. */
async function endObject({ upstreamObjects, observer }: RelayDependencies, response: UpstreamObject): Promise<void> {
  try {
    await upstreamObjects.end(response);
  } catch (error) {
    observer.log("warn", "failed to record a deleted response", { id: response.id, error });
  }
}

function openStream({ dependencies, call, permit, provider }: Asked, answer: OutboundAnswer): LiveBody {
  const end = (): void => void permit.settle(0);
  const redactor = (): Redactor => attemptRedactor(provider, call.headers);
  return new AnswerStream({
    dependencies,
    call,
    entry: { progress: () => null, finish: end, breakOff: end },
    over: () => {},
    answer,
    tap: call.protocol.wire.tapStream(false),
    inStream: inSafeWords,
    waiting: new PieceQueue(redactor),
    pending: null,
    redactor,
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
    throw new Failure("no_deployment_available", "The account that keeps this answer is not available.");
  }
  const lane = lanesOf(kind, provider).find(({ endpoint }) => endpoint === call.protocol.endpoint);
  if (lane === undefined) throw notFound(call.upstreamId);
  return { provider, kind, lane };
}

function notFound(upstreamId: string): Failure {
  return new Failure("not_found", `There is no answer with the id "${upstreamId.slice(0, 128)}".`, { param: "id" });
}
