import { bounds, type HeaderReader, type Model, oncePerObject, type Principal, unreadModel } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import { callableModels, mayCall, refusalOf, shadowDenialsOf } from "#identity/index.ts";
import type { EndpointProtocol, RequestFacts } from "#protocols/index.ts";
import type { Call, CallResult } from "#relay/index.ts";
import type { Answer } from "./call-request.ts";
import type { Exchange } from "./dependencies.ts";
import { captureCall } from "./request-capture.ts";
import { renderFailure } from "./respond.ts";
import { headSession, namedSession } from "./session.ts";
import { sentTags, withKeyTags } from "./tags.ts";

/** A call with its body read. */
export interface ReadCall extends Pick<Call, "protocol" | "principal" | "facts" | "marks" | "bodyWaitMs" | "query"> {
  readonly body: NonNullable<Call["body"]>;
  /** The body as the caller sent it. */
  readonly sent: NonNullable<Call["body"]>;
}

/** Runs an authenticated call through the relay and answers its caller. */
export async function runCall(exchange: Exchange, read: ReadCall): Promise<Answer> {
  const { dependencies, seen } = exchange;
  const { protocol, principal, facts } = read;
  seen.model = facts.model;
  const models = callableModels(dependencies.configSnapshot(), principal, facts.model);
  captureCall(exchange, { principal, endpoint: protocol.endpoint, body: read.sent, models });
  const call = callOf(exchange, read, models, exchange.streamEnd);
  const result =
    models.length === 0
      ? dependencies.relay.refuse(call, ...refusalOf(dependencies.configSnapshot(), principal, facts.model))
      : await dependencies.relay.run(call);
  return answerOf(exchange, result, protocol);
}

/** The answer to the caller. */
export function answerOf(exchange: Exchange, result: CallResult, { dialect }: EndpointProtocol): Answer {
  if ("failure" in result) {
    exchange.seen.failure = result.failure;
    return renderFailure(result.failure, exchange.requestId, result.headers, dialect);
  }
  const { status, headers, body } = result;
  const isEmpty = body instanceof Uint8Array && body.length === 0;
  return new ServerAnswer(status, headers, isEmpty ? null : body);
}

/** Facts of a call in its head. */
export interface CallHead extends Pick<Call, "forwarded" | "userAgent"> {
  readonly tags: ReturnType<typeof sentTags>;
  readonly session: ReturnType<typeof headSession>;
}

/** Throws Failure invalid_request. */
export function readCallHead(headers: HeaderReader): CallHead {
  const userAgent = (headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax);
  return { userAgent, tags: sentTags(headers), session: headSession(headers) };
}

export function callOf(
  { request, requestId, startedMs, seen }: Pick<Exchange, "request" | "requestId" | "startedMs" | "seen">,
  read: Omit<ReadCall, "body" | "sent"> & Pick<Call, "body">,
  models: readonly Model[],
  streamEnd: () => void,
  { userAgent, tags, session, forwarded }: CallHead = readCallHead(request.headers),
): Call {
  return {
    requestId,
    principal: read.principal,
    protocol: read.protocol,
    facts: read.facts,
    body: read.body,
    marks: read.marks,
    headers: request.headers,
    forwarded,
    query: read.query,
    models,
    mayCall: grantOf(read.principal),
    shadowDenials: shadowDenialsOf(read.principal),
    signal: request.signal,
    startedMs,
    bodyWaitMs: read.bodyWaitMs,
    userAgent,
    tags: withKeyTags(tags, read.principal),
    session: namedSession(session, read.protocol, read.facts, userAgent),
    attempts: seen.attempts,
    streamEnd,
  };
}

/** Refuses a caller at a limit that applies to every call, before its large body is read. null: not refused. */
export async function refusedUnread(
  exchange: Exchange,
  protocol: EndpointProtocol,
  principal: Principal,
): Promise<Answer | null> {
  const read = { protocol, principal, facts: unread, body: null, marks: null, bodyWaitMs: 0, query: "" };
  const refusal = await exchange.dependencies.relay.refusedUnread(callOf(exchange, read, [], exchange.streamEnd));
  return refusal === null ? null : answerOf(exchange, refusal, protocol);
}

/** The facts of a call with an unread body. */
export const unread: RequestFacts = Object.freeze({
  model: unreadModel,
  modelSpan: null,
  stream: false,
  wantsUsage: false,
  outputTokensMax: null,
  inputEstimate: 0,
  streamOptionsSpan: null,
  affinity: null,
  continues: null,
  storesAs: null,
  images: 0,
});

export const grantOf = oncePerObject((principal: Principal) => (model: string) => mayCall(principal, model));
