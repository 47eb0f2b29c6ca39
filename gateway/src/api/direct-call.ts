import { asFailure, type Failure, type HeldMemory } from "#core/index.ts";
import { type CallerRequest, type Reply, ServerAnswer } from "#http-server/index.ts";
import { callableModels, readCredential } from "#identity/index.ts";
import { type EndpointProtocol, endpointProtocols, requireVendorVersion } from "#protocols/index.ts";
import type { Call, CallListener, CallResult } from "#relay/index.ts";
import { type EndedRequest, isPlainHost, logUnexpected, noAttempts, reportEnd, reportLeft } from "./answer-arrival.ts";
import { encodingOf, isJsonType } from "./body.ts";
import type { ApiDependencies, Seen } from "./dependencies.ts";
import { type CallHead, callOf, readCallHead } from "./model-call.ts";
import { targetOf } from "./request-parts.ts";
import { renderFailure } from "./respond.ts";
import { routeOf } from "./routes.ts";

/** Facts of a request head, cached for all heads that differ only in their content length. */
interface DirectHead extends CallHead {
  readonly protocol: EndpointProtocol;
  readonly route: ReturnType<typeof routeOf>;
  readonly path: string;
  /** Passed to upstreams of the same dialect. */
  readonly query: string;
  readonly credential: string;
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
    const credential = readCredential(headers);
    const forwarded = { provider: null, headers: {} };
    return { protocol, route: routeOf(path, method), path, query, credential, ...readCallHead(headers), forwarded };
  } catch {
    return null;
  }
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
  const address = addressOf(request);
  let place: HeldMemory | null = null;
  let direct: DirectCall;
  try {
    const principal = dependencies.authenticator.authenticate(head.credential, address);
    if (principal instanceof Promise) {
      // The general path authenticates again and reports the error.
      principal.catch(() => {});
      return false;
    }
    if (principal.key.capture !== "none") return false;
    const facts = head.protocol.wire.readRequest(body, null);
    const models = callableModels(dependencies.configSnapshot(), principal, facts.model);
    if (models.length === 0) return false;
    place = dependencies.memory.open(principal, "request");
    // The upstream gets a copy with another model name.
    place.hold(body.length * 2);
    direct = new DirectCall(dependencies, request, reply, {
      head,
      place,
      startedMs,
      address,
      principal,
      facts,
      body,
      models,
    });
  } catch {
    // The general path reports the error in the caller's dialect.
    place?.release();
    return false;
  }
  request.arrived();
  dependencies.relay.start(direct.call, direct);
  return true;
}

interface DirectParts extends Pick<Call, "principal" | "facts" | "models"> {
  readonly head: DirectHead;
  readonly place: HeldMemory;
  readonly startedMs: number;
  readonly address: string;
  readonly body: Uint8Array;
}

/** A call in the relay; answers its caller and reports the end. */
class DirectCall implements CallListener, EndedRequest {
  readonly request: CallerRequest;
  readonly requestId: string;
  readonly startedMs: number;
  readonly address: string;
  readonly seen: Seen;
  readonly call: Call;
  readonly #dependencies: ApiDependencies;
  readonly #head: DirectHead;
  readonly #reply: Reply;
  /** Memory held for the body. */
  readonly #place: HeldMemory;
  #status = 0;

  constructor(dependencies: ApiDependencies, request: CallerRequest, reply: Reply, parts: DirectParts) {
    const { head, place, startedMs, address, principal, facts, body, models } = parts;
    this.#dependencies = dependencies;
    this.request = request;
    this.#reply = reply;
    this.#head = head;
    this.#place = place;
    this.startedMs = startedMs;
    this.address = address;
    this.requestId = dependencies.ids.next("req_");
    this.seen = { key: principal.key.prefix, model: facts.model, failure: null, attempts: noAttempts(), principal };
    const { protocol, query } = head;
    const read = { protocol, principal, facts, body, marks: null, bodyWaitMs: 0, query };
    this.call = callOf(this, read, models, () => reportEnd(this.#dependencies, this, this.#status), head);
    request.heldFor(principal);
  }

  get method(): string {
    return this.request.method;
  }

  get path(): string {
    return this.#head.path;
  }

  get route(): DirectHead["route"] {
    return this.#head.route;
  }

  answered(result: CallResult): void {
    this.#place.release();
    if ("failure" in result) this.#refuse(result.failure, result.headers);
    else {
      const { status, headers, body } = result;
      this.#status = status;
      const isStream = !(body instanceof Uint8Array);
      if (!isStream) this.#reportWhenAnswered();
      this.#reply.send(new ServerAnswer(status, headers, !isStream && body.length === 0 ? null : body));
    }
  }

  /** Called on an internal error. */
  failed(thrown: unknown): void {
    this.#place.release();
    const failure = asFailure(thrown);
    logUnexpected(this.#dependencies, failure, this.requestId);
    this.#refuse(failure, {});
  }

  #refuse(failure: Failure, headers: Record<string, string>): void {
    this.seen.failure = failure;
    const response = renderFailure(failure, this.requestId, headers, this.#head.protocol.dialect);
    this.#status = response.status;
    this.#reportWhenAnswered();
    this.#reply.send(response);
  }

  #reportWhenAnswered(): void {
    this.request.whenAnswered((lost) => reportLeft(this.#dependencies, this, this.#status, lost));
  }
}
