import { asFailure, Failure, type Provider, type UpstreamObject } from "#core/index.ts";
import { freeRequest } from "#limits/index.ts";
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

/** A request to an account about a response or an interaction that it stores. */
interface StoredResponseRequest {
  readonly upstreamId: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** The path after the id: empty, `/cancel` or `/input_items`. */
  readonly rest: string;
}

type CallMembers = "requestId" | "principal" | "protocol" | "query" | "headers" | "signal" | "mayCall" | "streamEnd";

/** A call that reads, cancels or deletes a response or an interaction that an upstream stores. */
export type StoredResponseCall = StoredResponseRequest & Pick<Call, CallMembers>;

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
    if (response === undefined || response.kind !== kindOf(call) || !call.mayCall(response.model)) throw notFound(call);
    const permit = await dependencies.admission.admit(principal, freeRequest, call.requestId);
    try {
      if (call.method !== "GET") await dependencies.background().refresh(workspaceId, upstreamId, signal);
      return await forward(dependencies, call, response, () => permit.settle(0));
    } catch (thrown) {
      permit.settle(0);
      throw thrown;
    }
  } catch (thrown) {
    const failure = signal.aborted ? new Failure("client_closed", "The caller went away.") : asFailure(thrown);
    return { failure, headers: {} };
  }
}

/** The kind of object that the calls of an endpoint store. */
function kindOf({ protocol }: Pick<StoredResponseCall, "protocol">): "interaction" | "response" {
  return protocol.endpoint === "interactions" ? "interaction" : "response";
}

/** `end` is called once the answer is whole, or its stream has ended. */
async function forward(
  dependencies: RelayDependencies,
  call: StoredResponseCall,
  response: UpstreamObject,
  end: () => void,
): Promise<CallResult> {
  const { protocol, requestId, principal } = call;
  const { provider, kind, lane } = accountOf(dependencies, call, response);
  const redactor = attemptRedactor(provider, call.headers);
  let answer: OutboundAnswer | null = null;
  try {
    answer = await send(dependencies, call, response, { provider, kind, lane });
    const { status } = answer;
    if (status < 200 || status > 299) {
      throw await refusalOf(dependencies, call, { provider, kind, errorDialect: protocol.wireDialect }, answer);
    }
    const headers = passedHeaders(provider, answer.headers, false);
    headers["content-type"] ??= "application/json";
    headers["x-request-id"] = requestId;
    headers["x-sluice-provider"] = provider.id;
    const { idleMs } = provider.timeouts;
    if (isEventStreamType(headers["content-type"])) {
      passAtOnce(headers);
      const stream = new AnswerStream({
        ...{ dependencies, call, idleMs },
        answer: { status, body: answer.body },
        entry: { progress: () => null, finish() {}, breakOff() {}, redactor },
        tally: { end },
        tap: protocol.wire.tapStream(false),
        inStream: inSafeWords,
        waiting: new PieceQueue({ redactor }),
        pending: null,
        place: dependencies.memory.open(principal, "event"),
        drains: false,
      });
      return { status, headers, body: stream.open() };
    }
    return await readWhole(dependencies.memory, principal, { answer, idleMs }, async (body) => {
      end();
      if (call.method === "DELETE") await endObject(dependencies, response);
      const isFailed = Buffer.from(body.buffer, body.byteOffset, body.length).includes('"failed"');
      return { status, headers, body: isFailed ? redactor.bytes(body) : body };
    });
  } catch (thrown) {
    answer?.body.cancel();
    throw redactor.failure(asFailure(thrown));
  }
}

interface Account {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  /** The lane of the call's endpoint. */
  readonly lane: Lane;
}

async function send(
  { tracing, providerClient }: RelayDependencies,
  call: StoredResponseCall,
  { upstreamModel }: UpstreamObject,
  account: Account,
): Promise<OutboundAnswer> {
  const { requestId, signal, headers } = call;
  const { provider } = account;
  const draft = storedResponseDraft(account, { ...call, upstreamModel });
  Object.assign(draft.headers, forwardedHeaders(headers, provider));
  ownIdempotencyKeys(draft.headers, call.principal.workspace.id, upstreamModel);
  // There is no attempt: the parent span is the call.
  continueTrace(draft.headers, tracing, { requestId, attemptId: requestId, provider });
  draft.url = withQuery(draft.url, call.query);
  await providerClient.authorize(account.kind, draft, signal);
  return providerClient.send(draft, provider.timeouts, signal);
}

/** The vendor has deleted it, whether that can be recorded or not. */
async function endObject({ upstreamObjects, observer }: RelayDependencies, response: UpstreamObject): Promise<void> {
  try {
    await upstreamObjects.end(response);
  } catch (error) {
    observer.log("warn", "failed to record a deleted response", { id: response.id, error });
  }
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
    throw new Failure("no_deployment_available", `The account that stores this ${kindOf(call)} is not available.`);
  }
  const lane = lanesOf(kind, provider).find(({ endpoint }) => endpoint === call.protocol.endpoint);
  if (lane === undefined) throw notFound(call);
  return { provider, kind, lane };
}

function notFound(call: StoredResponseCall): Failure {
  const what = kindOf(call);
  return new Failure("not_found", `There is no ${what} with the id "${call.upstreamId.slice(0, 128)}".`, {
    param: "id",
  });
}
