import { asFailure, bounds, type Failure, type HeldMemory, type Principal } from "#core/index.ts";
import { type CallerRequest, type Reply, ServerAnswer } from "#http-server/index.ts";
import { requireVendorVersion } from "#protocols/index.ts";
import type { Call, CallListener, CallResult, EndpointProtocol } from "#relay/index.ts";
import { isPlainHost, logUnexpected, noAttempts, RequestEnding } from "./answer-arrival.ts";
import { encodingOf, isJsonType } from "./body.ts";
import { callableModels } from "./callable-models.ts";
import type { ApiDependencies, Seen } from "./dependencies.ts";
import { protocols } from "./endpoint-protocols.ts";
import { grantOf } from "./model-call.ts";
import { targetOf } from "./request-parts.ts";
import { renderFailure } from "./respond.ts";
import { routeOf } from "./routes.ts";
import { readTags, tagHeaders } from "./tags.ts";

/** Facts of a request head, cached for all heads that differ only in their content length. */
interface DirectHead {
  readonly protocol: EndpointProtocol;
  readonly route: ReturnType<typeof routeOf>;
  readonly path: string;
  /** Passed to upstreams of the same dialect. */
  readonly query: string;
  readonly userAgent: string;
  readonly hasTags: boolean;
}

const direct: ReadonlyMap<string, EndpointProtocol> = new Map([
  ["/v1/chat/completions", protocols.chat],
  ["/v1/messages", protocols.messages],
]);

/** Larger bodies take the general path. */
const directBodyBytesMax = 64 * 1024;

/** By head template. null: these requests take the general path. */
const heads = new WeakMap<object, DirectHead | null>();

function headOf(request: CallerRequest): DirectHead | null {
  const known = heads.get(request.template);
  if (known !== undefined) return known;
  const head = readHead(request);
  heads.set(request.template, head);
  return head;
}

function readHead({ method, target, headers }: CallerRequest): DirectHead | null {
  const { path, query } = targetOf(target);
  const protocol = method === "POST" ? direct.get(path) : undefined;
  if (protocol === undefined || (query !== "" && protocol.endpoint !== "messages")) return null;
  if (target.includes("#") || !isPlainHost(headers.get("host"))) return null;
  try {
    if (!isJsonType(headers.get("content-type")) || encodingOf(headers.get("content-encoding")) !== null) return null;
    if (protocol.endpoint === "messages") requireVendorVersion(headers);
  } catch {
    return null;
  }
  const userAgent = (headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax);
  const hasTags = tagHeaders.some((name) => headers.has(name));
  return { protocol, route: routeOf(path, method), path, query, userAgent, hasTags };
}

/** The caller's address behind trusted proxies. */
type AddressOf = (request: CallerRequest) => string;

/**
 * Answers the common call without a promise: a small body that arrived with its head, for a model, with a cached key. Returns false,
 * with nothing done, for any other request; `answerArrival` then answers it with the same result.
 */
export function answerDirect(
  dependencies: ApiDependencies,
  addressOf: AddressOf,
  request: CallerRequest,
  reply: Reply,
): boolean {
  const head = headOf(request);
  const body = request.whole;
  if (head === null || body === null || body.length > directBodyBytesMax) return false;
  if (dependencies.tracing !== undefined || dependencies.draining()) return false;
  const startedMs = dependencies.clock.monotonic();
  let run: DirectCall;
  let call: Call;
  try {
    const principal = dependencies.authenticator.authenticate(request.headers, () => addressOf(request));
    if (principal instanceof Promise) {
      // The general path authenticates again and reports the error.
      principal.catch(() => {});
      return false;
    }
    if (principal.key.capture !== "none") return false;
    const facts = head.protocol.wire.readRequest(body, null);
    const models = callableModels(dependencies.configSnapshot(), principal, facts.model);
    if (models.length === 0) return false;
    const hasTags = head.hasTags || facts.affinity !== null;
    const tags = hasTags ? readTags(request.headers, principal, facts.affinity) : principal.key.tags;
    const place = dependencies.memory.open(principal, "request");
    // The upstream gets a copy with another model name.
    place.hold(body.length * 2);
    run = new DirectCall(dependencies, {
      request,
      reply,
      head,
      principal,
      place,
      startedMs,
      address: addressOf(request),
    });
    call = run.call(facts, body, models, tags);
  } catch {
    // The general path reports the error in the caller's dialect.
    return false;
  }
  request.arrived();
  dependencies.relay.start(call, run);
  return true;
}

interface DirectParts {
  readonly request: CallerRequest;
  readonly reply: Reply;
  readonly head: DirectHead;
  readonly principal: Principal;
  /** Memory held for the body. */
  readonly place: HeldMemory;
  readonly startedMs: number;
  readonly address: string;
}

/** A call in the relay; answers its caller and reports the end. */
class DirectCall implements CallListener {
  readonly #dependencies: ApiDependencies;
  readonly #parts: DirectParts;
  readonly #requestId: string;
  readonly #seen: Seen;
  readonly #ending: RequestEnding;
  #status = 0;

  constructor(dependencies: ApiDependencies, parts: DirectParts) {
    const { request, head, principal, startedMs, address } = parts;
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#requestId = dependencies.ids.next("req_");
    this.#seen = { key: principal.key.prefix, model: null, failure: null, attempts: noAttempts(), principal };
    this.#ending = new RequestEnding(dependencies, {
      requestId: this.#requestId,
      startedMs,
      address,
      seen: this.#seen,
      path: head.path,
      route: head.route,
      method: request.method,
    });
    request.heldFor(principal);
  }

  call(facts: Call["facts"], body: Uint8Array, models: Call["models"], tags: Call["tags"]): Call {
    const { request, head, principal, startedMs } = this.#parts;
    this.#seen.model = facts.model;
    return {
      requestId: this.#requestId,
      principal,
      protocol: head.protocol,
      facts,
      body,
      marks: null,
      headers: request.headers,
      query: head.query,
      models,
      mayCall: grantOf(principal),
      signal: request.signal,
      startedMs,
      bodyWaitMs: 0,
      userAgent: head.userAgent,
      tags,
      attempts: this.#seen.attempts,
      streamEnd: this.#streamEnd,
    };
  }

  answered(result: CallResult): void {
    const { request, reply, place } = this.#parts;
    place.release();
    if ("failure" in result) this.#refuse(result.failure, result.headers);
    else {
      const { status, headers, body } = result;
      this.#status = status;
      const isStream = !(body instanceof Uint8Array);
      if (!isStream) request.whenAnswered((failure) => this.#ending.left(status, failure));
      reply.send(new ServerAnswer(status, headers, !isStream && body.length === 0 ? null : body));
    }
  }

  /** Called on an internal error. */
  failed(thrown: unknown): void {
    this.#parts.place.release();
    const failure = asFailure(thrown);
    logUnexpected(this.#dependencies, failure, this.#requestId);
    this.#refuse(failure, {});
  }

  #refuse(failure: Failure, headers: Record<string, string>): void {
    const { request, reply, head } = this.#parts;
    this.#seen.failure = failure;
    const response = renderFailure(failure, this.#requestId, headers, head.protocol.dialect);
    request.whenAnswered((lost) => this.#ending.left(response.status, lost));
    reply.send(response);
  }

  readonly #streamEnd = (): void => this.#ending.report(this.#status);
}
