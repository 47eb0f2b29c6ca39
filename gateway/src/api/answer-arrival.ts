import { adminAreas } from "@sluice/contract/words";
import { asFailure, Failure, type FailureCode, failureTable, type Principal } from "#core/index.ts";
import { mayPassThrough } from "#identity/index.ts";
import type { AttemptSums, RequestOutcome } from "#ports/index.ts";
import type { Dialect } from "#protocols/index.ts";
import { authenticated } from "./authenticated.ts";
import { type Answer, asRequest, type CallRequest } from "./call-request.ts";
import type { ApiDependencies, Exchange, Seen } from "./dependencies.ts";
import { providersPath } from "./endpoints/pass-through.ts";
import { renderFailure } from "./respond.ts";
import { dataPlane, dialectOf, isCallersPath, routeOf } from "./routes.ts";

/** Scope of a port. `calls`: the data plane; `console`: console, admin API and monitoring; `all`: both. */
export type ListenerRole = "all" | "calls" | "console";

/** One request as it arrived. */
export interface Arrival extends Omit<Exchange, "requestId" | "streams" | "seen"> {
  readonly role: ListenerRole;
  /** Why the target is ambiguous; null: it is not. */
  readonly flaw: string | null;
}

/** Answers a request by its route, and reports how it ended. Never rejects: failures are rendered in the caller's dialect. */
export async function answerArrival(dependencies: ApiDependencies, arrival: Arrival): Promise<Answer> {
  const { request, path, startedMs } = arrival;
  const requestId = dependencies.ids.next("req_");
  const route = routeOf(path, request.method);
  const dialect = () => dialectOf(route, path, request.headers);
  dependencies.tracing?.arrived(requestId, request.headers);
  // Read it now: after an early close the connection no longer has it.
  const address = arrival.address();
  const seen: Seen = { key: null, model: null, failure: null, attempts: noAttempts(), principal: null };
  let response: Answer;
  let streaming = false;
  const { method } = request;
  const ended = new RequestEnding(dependencies, { requestId, startedMs, address, seen, path, route, method });
  const report = (): void => ended.report(response.status);
  const exchange: Exchange = {
    ...arrival,
    requestId,
    seen,
    streams: () => {
      streaming = true;
      return report;
    },
  };
  try {
    if (!isPlainHost(request.headers.get("host")))
      throw new Failure("invalid_request", "The Host header is not valid.");
    if (arrival.flaw !== null) throw new Failure("invalid_request", `The path is not plain. ${arrival.flaw}`);
    if (!isServed(arrival.role, path, route !== null)) {
      throw new Failure("not_found", `There is no ${request.method} ${path} on this port.`);
    }
    if (route === null) {
      const suggestion = dataPlane.test(path) ? "" : suggestedPath(path, request.method);
      if (suggestion !== "") throw new Failure("not_found", `There is no ${request.method} ${path}.${suggestion}`);
      if (!dataPlane.test(path)) {
        const answer = await dependencies.admin(asRequest(request), { ip: address, requestId });
        response = withRequestId(answer, requestId);
        if (response.status >= 400) seen.failure = await failureIn(answer);
        report();
        return response;
      }
      if (asksForSocket(request))
        throw new Failure("not_found", `There is no WebSocket at ${path}. One is at /v1/responses.`);
      throw await unknownPath(dependencies, exchange, dialect());
    }
    if (dependencies.draining() && path.startsWith("/v1")) {
      throw new Failure("draining", "The gateway is shutting down; try again.", { retryAfterMs: 1_000 });
    }
    const endpoint = asksForSocket(request) ? (route.socket ?? route.methods["GET"]) : route.methods[request.method];
    if (endpoint === undefined) {
      const elsewhere = dataPlane.test(path) ? await advice(dependencies, exchange, dialect()) : "";
      throw new MethodNotAllowed(request.method, Object.keys(route.methods).join(", "), elsewhere);
    }
    const answered = endpoint(dependencies, exchange);
    response = answered instanceof Promise ? await answered : answered;
  } catch (thrown) {
    const failure = asFailure(thrown);
    seen.failure = failure;
    logUnexpected(dependencies, failure, requestId);
    const allow = thrown instanceof MethodNotAllowed ? { allow: thrown.allow } : {};
    response = renderFailure(failure, requestId, allow, dialect());
  }
  if (streaming) return response;
  if (request.whenAnswered === undefined) report();
  else {
    request.whenAnswered((failure) => ended.left(response.status, failure));
  }
  return response;
}

interface EndedRequest extends Pick<Exchange, "requestId" | "startedMs" | "path" | "seen"> {
  readonly method: string;
  readonly address: string;
  readonly route: ReturnType<typeof routeOf>;
}

/** Reports how a request ended, for the access log and metrics. */
export class RequestEnding {
  readonly #dependencies: ApiDependencies;
  readonly #request: EndedRequest;

  constructor(dependencies: ApiDependencies, request: EndedRequest) {
    this.#dependencies = dependencies;
    this.#request = request;
  }

  report(status: number): void {
    const { observer, clock } = this.#dependencies;
    const { requestId, method, startedMs, address, route, path, seen } = this.#request;
    const { attempts, failure } = seen;
    const isNowhere = route === null && status === 404;
    const error = failure?.code ?? (status < 400 ? (attempts.last?.errorCode ?? null) : null);
    observer.requestEnd({
      requestId,
      method,
      route: route?.name ?? adminRoute(path),
      path: isNowhere ? path : null,
      status,
      outcome: outcomeOf(status, error),
      totalMs: clock.monotonic() - startedMs,
      address,
      key: seen.key,
      model: seen.model,
      error,
      // The message of an unknown path would repeat the whole path.
      message: isNowhere ? null : (attempts.fault?.message ?? failure?.message ?? null),
      attempts,
      principal: seen.principal,
    });
  }

  /** The whole answer was sent (null), or it did not reach its caller. */
  left(status: number, failure: Failure | null): void {
    if (failure !== null) logUnexpected(this.#dependencies, failure, this.#request.requestId);
    this.#request.seen.failure ??= failure;
    this.report(status);
  }
}

export function noAttempts(): AttemptSums {
  return { count: 0, inputTokens: 0, outputTokens: 0, costNanoUsd: 0, last: null, fault: null };
}

export function logUnexpected({ observer }: ApiDependencies, { code, cause }: Failure, requestId: string): void {
  if (code !== "internal_error") return;
  observer.log("error", "A request ended in an unexpected error.", { requestId, error: cause });
}

/**
 * Whether a GET is a WebSocket handshake (RFC 6455, 4.1). A proxy without WebSocket support removes `upgrade`, which is hop-by-hop, and
 * leaves the key.
 */
export function asksForSocket({ method, headers }: CallRequest): boolean {
  if (method !== "GET") return false;
  return headers.get("upgrade")?.toLowerCase() === "websocket" || headers.has("sec-websocket-key");
}

/** Health is on both ports. Clients warm up connections at the callers' address. */
function isServed(role: ListenerRole, path: string, hasRoute: boolean): boolean {
  if (role === "all" || path === "/healthz" || path === "/readyz") return true;
  if (path === "/") return role === "console" || hasRoute;
  return isCallersPath(path) === (role === "calls");
}

/** A stream that failed after its start has a good status, so the error decides. */
function outcomeOf(status: number, error: string | null): RequestOutcome {
  if (error === "client_closed") return "cancelled";
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  if (error === null) return "succeeded";
  const errorStatus = (failureTable as Readonly<Record<string, { readonly status: number }>>)[error]?.status ?? 500;
  return errorStatus >= 500 ? "failed" : "refused";
}

/** The failure in the body of an answer of the admin API or sign-in. */
async function failureIn(response: Response): Promise<Seen["failure"]> {
  if (response.headers.get("content-type")?.startsWith("application/json") !== true) return null;
  try {
    const { error } = (await response.clone().json()) as { error?: { code?: unknown; message?: unknown } };
    const code = error?.code;
    if (typeof code !== "string" || !Object.hasOwn(failureTable, code)) return null;
    return { code: code as FailureCode, message: String(error?.message ?? "") };
  } catch {
    return null;
  }
}

/** A call within a call has its own id already, which its log line has. */
function withRequestId(answer: Response, requestId: string): Response {
  if (!answer.headers.has("x-request-id")) answer.headers.set("x-request-id", requestId);
  return answer;
}

/** RFC 9110, 15.5.6: the answer lists the allowed methods. */
class MethodNotAllowed extends Failure {
  readonly allow: string;

  constructor(method: string, allow: string, elsewhere: string) {
    super("method_not_allowed", `Method ${method} not allowed. Use ${allow}.${elsewhere}`);
    this.allow = allow;
  }
}

/** Whether the host has no path or query, which would shift the path for the router. */
export function isPlainHost(host: string | null): boolean {
  return host !== null && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host);
}

/** The kind of a path outside the data plane, for logs and metrics. Never a text from the caller. */
export function adminRoute(path: string): string {
  const [, first = "", second = ""] = path.split("/", 3);
  if (first === "console" || first === "docs") return first;
  if (path === "/") return "root";
  if (path.startsWith("/scim/v2/")) return "scim";
  if (/^\/v1\/organizations\/spend_limits(\/|$)/.test(path)) return "spend-limits";
  if (path === "/openapi.json") return "openapi";
  return first === "api" && apiWords.has(second) ? `api/${second}` : "unknown";
}

const apiWords: ReadonlySet<string> = new Set(["auth", "setup", "status", ...adminAreas]);

/** The error for an unknown path, for a caller of this dialect. */
async function unknownPath(dependencies: ApiDependencies, exchange: Exchange, dialect: Dialect): Promise<Failure> {
  const { path, request } = exchange;
  const suggestion = suggestedPath(path, request.method);
  const more = suggestion === "" ? await advice(dependencies, exchange, dialect) : suggestion;
  return new Failure("not_found", `There is no ${request.method} ${path}.${more}`);
}

/** Suggests the path behind a wrong base URL: `/v1` twice or missing, an extra slash. Begins with a space, or is empty. */
function suggestedPath(path: string, method: string): string {
  const short = path.replace(/\/+$/, "");
  const once = short.replace(/^(?:\/v1)+(?=\/v1)/, "");
  const found = [short, once, `/v1${once}`].find(
    (each) => each !== path && each.startsWith("/v1/") && routeOf(each, method)?.methods[method] !== undefined,
  );
  return found === undefined ? "" : ` Did you mean ${found}?`;
}

/**
 * Suggests the providers' own APIs that the key may use and that have the caller's dialect. Without a key it suggests nothing. Begins
 * with a space, or is empty.
 */
async function advice(dependencies: ApiDependencies, exchange: Exchange, dialect: Dialect): Promise<string> {
  const { path } = exchange;
  if (path.startsWith(providersPath)) return "";
  const principal = await principalOf(dependencies, exchange);
  if (principal === null) return "";
  const { providers } = dependencies.configSnapshot();
  const places = principal.key.passThrough
    .filter((id) => mayPassThrough(principal, id) && providers.get(id)?.enabled === true)
    .filter((id) => dependencies.relay.passThroughDialect(id)?.id === dialect.id)
    .map((id) => `${providersPath}${id}${path}`);
  if (places.length > 0) return ` The provider's own API is at ${places.slice(0, namedMax).join(" and ")}.`;
  return ` An administrator can grant this key a provider's own API, which is then at ${providersPath}{provider}${path}.`;
}

const namedMax = 3;

/** null: the caller is not authenticated. */
async function principalOf(dependencies: ApiDependencies, exchange: Exchange): Promise<Principal | null> {
  try {
    return await authenticated(dependencies, exchange);
  } catch (thrown) {
    if (asFailure(thrown).code === "internal_error") throw thrown;
    return null;
  }
}
