import { asFailure, type Failure, type HeldMemory, type Principal } from "#core/index.ts";
import { type CallerRequest, type Reply, ServerAnswer } from "#http-server/index.ts";
import { callableModels } from "#identity/index.ts";
import { type EndpointProtocol, endpointProtocols, requireVendorVersion } from "#protocols/index.ts";
import type { Call, CallListener, CallResult } from "#relay/index.ts";
import { isPlainHost, logUnexpected, noAttempts, RequestEnding } from "./answer-arrival.ts";
import { encodingOf, isJsonType } from "./body.ts";
import type { ApiDependencies, Seen } from "./dependencies.ts";
import { callOf } from "./model-call.ts";
import { targetOf } from "./request-parts.ts";
import { renderFailure } from "./respond.ts";
import { routeOf } from "./routes.ts";

/** Facts of a request head, cached for all heads that differ only in their content length. */
interface DirectHead {
  readonly protocol: EndpointProtocol;
  readonly route: ReturnType<typeof routeOf>;
  readonly path: string;
  /** Passed to upstreams of the same dialect. */
  readonly query: string;
}

const direct: ReadonlyMap<string, EndpointProtocol> = new Map([
  ["/v1/chat/completions", endpointProtocols.chat],
  ["/v1/messages", endpointProtocols.messages],
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
  return { protocol, route: routeOf(path, method), path, query };
}

/**
 * Answers the common call without a promise: a small body that arrived with its head, for a model, with a cached key. Returns false,
 * with nothing done, for any other request; `answerArrival` then answers it with the same result.
 */
export function answerDirect(
  dependencies: ApiDependencies,
  /** The caller's address behind trusted proxies. */
  addressOf: (request: CallerRequest) => string,
  request: CallerRequest,
  reply: Reply,
): boolean {
  const head = headOf(request);
  const body = request.whole;
  if (head === null || body === null || body.length > directBodyBytesMax) return false;
  if (dependencies.tracing !== undefined || dependencies.draining()) return false;
  const startedMs = dependencies.clock.monotonic();
  let direct: DirectCall;
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
    const place = dependencies.memory.open(principal, "request");
    // The upstream gets a copy with another model name.
    place.hold(body.length * 2);
    direct = new DirectCall(dependencies, { request, reply, head, place, startedMs, address: addressOf(request) });
    direct.prepare(principal, facts, body, models);
  } catch {
    // The general path reports the error in the caller's dialect.
    return false;
  }
  request.arrived();
  direct.start();
  return true;
}

interface DirectParts {
  readonly request: CallerRequest;
  readonly reply: Reply;
  readonly head: DirectHead;
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
  readonly #seen: Seen = { key: null, model: null, failure: null, attempts: noAttempts(), principal: null };
  readonly #ending: RequestEnding;
  /** null once it was started: the relay frees its body. */
  #call: Call | null = null;
  #status = 0;

  constructor(dependencies: ApiDependencies, parts: DirectParts) {
    const { request, head, startedMs, address } = parts;
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#requestId = dependencies.ids.next("req_");
    const { path, route } = head;
    const common = { requestId: this.#requestId, startedMs, address, path, route };
    this.#ending = new RequestEnding(dependencies, { ...common, seen: this.#seen, method: request.method });
  }

  /** Throws Failure. */
  prepare(principal: Principal, facts: Call["facts"], body: Uint8Array, models: Call["models"]): void {
    const { request, head, startedMs, place } = this.#parts;
    const { protocol, query } = head;
    const read = { protocol, principal, facts, body, marks: null, bodyWaitMs: 0, query };
    const exchange = { request, requestId: this.#requestId, startedMs, seen: this.#seen };
    try {
      this.#call = callOf(exchange, read, models, () => this.#ending.report(this.#status));
    } catch (thrown) {
      place.release();
      throw thrown;
    }
    this.#seen.key = principal.key.prefix;
    this.#seen.principal = principal;
    this.#seen.model = facts.model;
    request.heldFor(principal);
  }

  start(): void {
    const call = this.#call;
    this.#call = null;
    if (call !== null) this.#dependencies.relay.start(call, this);
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
}
