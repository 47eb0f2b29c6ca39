import {
  type BodyBytes,
  type BodyMarks,
  type CarriedMedia,
  mentionsAssets,
  outcomeOf,
  sizeOf,
  wholeOf,
} from "#bodies/index.ts";
import { bounds, Failure, type HeldMemory, type Model, type Principal, unreadModel } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import { mayCall } from "#identity/index.ts";
import type { PathFacts, RequestFacts } from "#protocols/index.ts";
import { type Call, type CallResult, type EndpointProtocol, serves } from "#relay/index.ts";
import { authenticated } from "./authenticated.ts";
import { mayBeLarge, modelBody, readJsonPieces } from "./body.ts";
import type { Answer } from "./call-request.ts";
import { callableModels, isCallable, refusalOf } from "./callable-models.ts";
import type { ApiDependencies, Endpoint, Exchange } from "./dependencies.ts";
import { captureOf, type RequestCapture } from "./request-capture.ts";
import { renderFailure } from "./respond.ts";
import { readTags } from "./tags.ts";

export interface ModelCallOptions {
  readonly protocol: EndpointProtocol;
  /** The facts in the path, if the body lacks them. `available`: whether the caller may use a model. */
  readonly path?: (exchange: Exchange, available: (model: string) => boolean) => PathFacts;
  /** Checks the head before the body is read. Throws Failure. */
  readonly require?: (exchange: Exchange) => void;
  /** The query is forwarded to upstreams of the same dialect (`?beta=true`). */
  readonly forwardsQuery?: boolean;
  /** References to assets of the caller's workspace in the body are replaced by their media. */
  readonly takesAssets?: boolean;
  /** The answer if no deployment of the model supports the endpoint; absent: the call is refused. */
  readonly unserved?: (facts: RequestFacts) => Response;
}

/** A model call with a JSON body: authenticates, reads, and passes the call to the relay. */
export function modelCall(options: ModelCallOptions): Endpoint {
  const { protocol } = options;
  return async (exchange) => {
    const { dependencies, request } = exchange;
    const found = authenticated(exchange);
    const principal = found instanceof Promise ? await found : found;
    options.require?.(exchange);
    const path = options.path?.(exchange, (name) => isCallable(dependencies.configSnapshot(), principal, name)) ?? null;
    if (mayBeLarge(request)) {
      const refused = await refusedUnread(exchange, protocol, principal);
      if (refused !== null) return refused;
    }
    const place = dependencies.memory.open(principal, "request");
    try {
      let arrived = readJsonPieces(exchange, place, modelBody);
      let bodyWaitMs = 0;
      if (arrived instanceof Promise) {
        const bodyStartMs = dependencies.clock.monotonic();
        arrived = await arrived;
        bodyWaitMs = dependencies.clock.monotonic() - bodyStartMs;
      }
      // A copy with another model is sent upstream.
      place.hold(sizeOf(arrived) * 2);
      // Parsing comes first: it refuses invalid and deeply nested JSON.
      const reading = readRequest(exchange, principal, protocol, arrived, path);
      let read = reading instanceof Promise ? await reading : reading;
      let sent = read.body;
      if (options.takesAssets === true) {
        const replaced = await withAssets(dependencies, principal, read, place);
        sent = replaced.sent;
        if (replaced.body === sent) read = { ...read, body: sent };
        else read = await readRequest(exchange, principal, protocol, replaced.body, path);
      }
      if (options.unserved !== undefined) {
        const models = callableModels(dependencies.configSnapshot(), principal, read.facts.model);
        if (models.length > 0 && !serves(models, protocol)) return options.unserved(read.facts);
      }
      const query = options.forwardsQuery === true ? exchange.query : "";
      return await runCall(exchange, { ...read, protocol, principal, sent, bodyWaitMs, query });
    } finally {
      // An answer has begun, or there will be none.
      place.release();
    }
  };
}

interface ReadRequest {
  readonly facts: RequestFacts;
  /** Replaces the bytes that were read, which may have moved to a thread. */
  readonly body: Uint8Array;
  /** null: not determined yet. */
  readonly marks: BodyMarks | null;
}

/** Returns no promise except for large bodies, which are parsed in a thread. */
function readRequest(
  { dependencies, request }: Exchange,
  owner: Principal,
  { wire, endpoint, wireDialect }: EndpointProtocol,
  bytes: BodyBytes,
  path: PathFacts | null,
): ReadRequest | Promise<ReadRequest> {
  if (sizeOf(bytes) <= bounds.readInPlaceBytesMax) {
    const body = wholeOf(bytes);
    return { facts: wire.readRequest(body, path), body, marks: null };
  }
  return dependencies.bodies
    .do("read", { endpoint, dialect: wireDialect, path }, bytes, { signal: request.signal, owner })
    .then((done) => ({ ...outcomeOf(done).answer, body: done.body }));
}

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
  const capture = captureOf(exchange, { principal, endpoint: protocol.endpoint, body: read.sent, models });
  const call = callOf(exchange, read, models, exchange.streamEnd);
  const result =
    models.length === 0
      ? dependencies.relay.refuse(call, ...refusalOf(dependencies.configSnapshot(), principal, facts.model))
      : await dependencies.relay.run(call);
  return answerOf(exchange, result, protocol, capture);
}

/** The answer to the caller. */
export function answerOf(
  exchange: Exchange,
  result: CallResult,
  protocol: EndpointProtocol,
  capture: RequestCapture | null = null,
): Answer | Promise<Answer> {
  if ("failure" in result) {
    const refusal = refused(exchange, result, protocol);
    return capture === null ? refusal : capture.answered(refusal).then(() => refusal);
  }
  const body = capture === null ? result.body : capture.delivered(result);
  const isEmpty = body instanceof Uint8Array && body.length === 0;
  return new ServerAnswer(result.status, result.headers, isEmpty ? null : body);
}

export function refused(
  { seen, requestId }: Exchange,
  { failure, headers }: Extract<CallResult, { failure: Failure }>,
  { dialect }: EndpointProtocol,
): Response {
  seen.failure = failure;
  return renderFailure(failure, requestId, headers, dialect);
}

export function callOf(
  { request, requestId, startedMs, seen }: Pick<Exchange, "request" | "requestId" | "startedMs" | "seen">,
  read: Omit<ReadCall, "body" | "sent"> & Pick<Call, "body">,
  models: readonly Model[],
  streamEnd: () => void,
): Call {
  return {
    requestId,
    principal: read.principal,
    protocol: read.protocol,
    facts: read.facts,
    body: read.body,
    marks: read.marks,
    headers: request.headers,
    query: read.query,
    models,
    mayCall: grantOf(read.principal),
    signal: request.signal,
    startedMs,
    bodyWaitMs: read.bodyWaitMs,
    userAgent: (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
    tags: readTags(request.headers, read.principal, read.facts.affinity),
    attempts: seen.attempts,
    streamEnd,
  };
}

/** Refuses a caller at a limit that applies to every call, before its large body is read. null: not refused. */
export async function refusedUnread(
  exchange: Exchange,
  protocol: EndpointProtocol,
  principal: Principal,
): Promise<Response | null> {
  const read = { protocol, principal, facts: unread, body: null, marks: null, bodyWaitMs: 0, query: "" };
  const refusal = await exchange.dependencies.relay.refusedUnread(callOf(exchange, read, [], exchange.streamEnd));
  return refusal === null ? null : refused(exchange, refusal, protocol);
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

/** A closure outside the call, so that it keeps no reference to the call. */
export function grantOf(principal: Principal): (model: string) => boolean {
  return (model) => mayCall(principal, model);
}

/**
 * Replaces references to assets in a JSON body by the assets' media. `sent` is the given body, which may have moved to a thread; `body`
 * is the same if nothing was replaced. Throws asset_not_found, and invalid_request for an asset that is not Active, or for too many.
 */
export async function withAssets(
  dependencies: ApiDependencies,
  principal: Principal,
  { body, marks }: { readonly body: Uint8Array; readonly marks: BodyMarks | null },
  place: HeldMemory,
): Promise<{ readonly sent: Uint8Array; readonly body: Uint8Array }> {
  if (!(marks?.assets ?? mentionsAssets(body))) return { sent: body, body };
  const found = await dependencies.bodies.do("assets", null, body, { owner: principal });
  const urls: [id: string, url: string][] = [];
  const media: CarriedMedia[] = [];
  const beside: Uint8Array[] = [];
  let size = 0;
  for (const id of outcomeOf(found).answer) {
    const { url, inline } = await dependencies.assets.portable(principal.workspace.id, id);
    urls.push([id, url]);
    if (inline === null) continue;
    size += inline.bytes.length;
    if (size > bounds.inlinedBytesMax) throw tooMuch();
    // In base64, in the body, and in what goes upstream.
    place.hold(2 * found.body.length + 4 * size);
    media.push({ url, mediaType: inline.mediaType });
    beside.push(inline.bytes);
  }
  if (urls.length === 0) return { sent: found.body, body: found.body };
  const put = await dependencies.bodies.do("put-assets", { urls, media }, found.body, { beside, owner: principal });
  return { sent: put.body, body: outcomeOf(put).made ?? put.body };
}

function tooMuch(): Failure {
  return new Failure(
    "invalid_request",
    `The assets in the body are larger than ${bounds.inlinedBytesMax} bytes in total.`,
  );
}
