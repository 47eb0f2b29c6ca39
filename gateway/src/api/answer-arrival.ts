import { adminAreas } from "@sluice/contract/words";
import { asFailure, Failure, type FailureCode, failureTable, type Principal } from "#core/index.ts";
import { mayPassThrough } from "#identity/index.ts";
import type { AttemptSums, RequestOutcome } from "#ports/index.ts";
import { authenticated } from "./authenticated.ts";
import { type Answer, asRequest, type CallRequest } from "./call-request.ts";
import type { ApiDependencies, Endpoint, Exchange, Seen } from "./dependencies.ts";
import { providersPath } from "./endpoints/pass-through.ts";
import { renderFailure } from "./respond.ts";
import { dataPlane, dialectOf, endpointFor, isCallersPath, routeOf } from "./routes.ts";

/** Scope of a port. `calls`: the data plane; `console`: console, admin API and monitoring; `all`: both. */
export type ListenerRole = "all" | "calls" | "console";

/** One request as it arrived. */
export interface Arrival extends Omit<Exchange, "requestId" | "streamEnd" | "seen"> {
  readonly role: ListenerRole;
  /** Why the target is ambiguous; null: it is not. */
  readonly flaw: string | null;
}

/** Answers a request by its route, and reports how it ended. Never rejects: failures are rendered in the caller's dialect. */
export async function answerArrival(arrival: Arrival): Promise<Answer> {
  const { dependencies, request, path, startedMs, address } = arrival;
  const { method, headers } = request;
  const requestId = dependencies.ids.next("req_");
  const route = routeOf(path, method);
  dependencies.tracing?.arrived(requestId, headers);
  const seen: Seen = { key: null, model: null, failure: null, attempts: noAttempts(), principal: null };
  const ended: EndedRequest = { requestId, startedMs, address, seen, path, route, method };
  let answer: Answer | null = null;
  let hasStreamEnded = false;
  const streamEnd = (): void => {
    hasStreamEnded = true;
    if (answer !== null && isStream(answer)) reportEnd(dependencies, ended, answer.status);
  };
  const exchange: Exchange = { ...arrival, requestId, seen, streamEnd };
  let endpoint: Endpoint | null = null;
  try {
    endpoint = endpointOf(arrival, route);
    const made = endpoint(exchange);
    answer = made instanceof Promise ? await made : made;
    // A call within a call has its own id already, which its log line has.
    if (answer instanceof Response && !answer.headers.has("x-request-id") && !probes.has(path)) {
      answer.headers.set("x-request-id", requestId);
    }
  } catch (thrown) {
    const failure = asFailure(thrown);
    seen.failure = failure;
    logUnexpected(dependencies, failure, requestId);
    // RFC 9110, 15.5.6: the answer lists the allowed methods.
    const allow = failure.code === "method_not_allowed" && route !== null ? { allow: methodsOf(route) } : {};
    answer = renderFailure(failure, requestId, allow, dialectOf(route, path, headers));
  }
  if (seen.capture !== undefined) answer = await seen.capture(answer);
  const { status } = answer;
  if (isStream(answer)) {
    if (hasStreamEnded) reportEnd(dependencies, ended, status);
  } else if (endpoint === admin || request.whenAnswered === undefined) reportEnd(dependencies, ended, status);
  else request.whenAnswered((failure) => reportLeft(dependencies, ended, status, failure));
  return answer;
}

/** Answered without a request id, except for their errors. */
const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Streams and WebSockets call `streamEnd` at their end. */
function isStream(answer: Answer): boolean {
  if (answer instanceof Response) return false;
  return answer.status === 101 || (answer.body !== null && !(answer.body instanceof Uint8Array));
}

type Route = NonNullable<ReturnType<typeof routeOf>>;

/** Throws Failure invalid_request, not_found or draining. */
function endpointOf({ dependencies, request, path, role, flaw }: Arrival, route: Route | null): Endpoint {
  const { method, headers } = request;
  if (!isPlainHost(headers.get("host"))) throw new Failure("invalid_request", "The Host header is not valid.");
  if (flaw !== null) throw new Failure("invalid_request", `The path is not plain. ${flaw}`);
  if (!isServed(role, path, route !== null))
    throw new Failure("not_found", `There is no ${method} ${path} on this port.`);
  if (route === null) {
    if (!dataPlane.test(path) && suggestedPath(path, method) === "") return admin;
    return asksForSocket(request) && dataPlane.test(path) ? unknownSocket : unknownPath;
  }
  if (dependencies.draining() && dataPlane.test(path)) {
    throw new Failure("draining", "The gateway is shutting down; try again.", { retryAfterMs: 1_000 });
  }
  const socket = asksForSocket(request) ? route.socket : undefined;
  return socket ?? endpointFor(route, method) ?? ((exchange) => refuseMethod(exchange, route));
}

/** Requests outside the data plane: console, admin API, API reference. */
async function admin({ dependencies, request, requestId, address, seen }: Exchange): Promise<Response> {
  const answer = await dependencies.admin(asRequest(request), { ip: address, requestId });
  if (answer.status >= 400) seen.failure = await failureIn(answer);
  return answer;
}

function unknownSocket({ path }: Exchange): never {
  throw new Failure("not_found", `There is no WebSocket at ${path}. One is at /v1/responses.`);
}

async function unknownPath(exchange: Exchange): Promise<never> {
  const { path, request } = exchange;
  const more = suggestedPath(path, request.method) || (await advice(exchange, null));
  throw new Failure("not_found", `There is no ${request.method} ${path}.${more}`);
}

async function refuseMethod(exchange: Exchange, route: Route): Promise<never> {
  const elsewhere = dataPlane.test(exchange.path) ? await advice(exchange, route) : "";
  const message = `Method ${exchange.request.method} not allowed. Use ${methodsOf(route)}.${elsewhere}`;
  throw new Failure("method_not_allowed", message);
}

function methodsOf({ methods }: Route): string {
  return Object.keys(methods).join(", ");
}

export interface EndedRequest extends Pick<Exchange, "requestId" | "startedMs" | "path" | "seen"> {
  readonly method: string;
  readonly address: string;
  readonly route: Route | null;
}

/** Reports how a request ended, for the access log and metrics. */
export function reportEnd({ observer, clock }: ApiDependencies, request: EndedRequest, status: number): void {
  const { requestId, method, startedMs, address, route, path, seen } = request;
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
export function reportLeft(
  dependencies: ApiDependencies,
  request: EndedRequest,
  status: number,
  failure: Failure | null,
): void {
  if (failure !== null) logUnexpected(dependencies, failure, request.requestId);
  request.seen.failure ??= failure;
  reportEnd(dependencies, request, status);
}

export function noAttempts(): AttemptSums {
  return { count: 0, inputTokens: 0, outputTokens: 0, costNanoUsd: 0, last: null, fault: null };
}

export function logUnexpected({ observer }: ApiDependencies, { code, cause }: Failure, requestId: string): void {
  if (code !== "internal_error") return;
  observer.log("error", "unexpected error while handling a request", { requestId, error: cause });
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

/** Suggests the path behind a wrong base URL: `/v1` twice or missing, an extra slash. Begins with a space, or is empty. */
function suggestedPath(path: string, method: string): string {
  const short = path.replace(/\/+$/, "");
  const once = short.replace(/^(?:\/v1)+(?=\/v1)/, "");
  const found = [short, once, `/v1${once}`].find((each) => {
    const route = each !== path && each.startsWith("/v1/") ? routeOf(each, method) : null;
    return route !== null && endpointFor(route, method) !== undefined;
  });
  return found === undefined ? "" : ` Did you mean ${found}?`;
}

/**
 * Suggests the providers' own APIs that the key may use and that have the caller's dialect. Without a key it suggests nothing. Begins
 * with a space, or is empty.
 */
async function advice(exchange: Exchange, route: Route | null): Promise<string> {
  const { dependencies, path, request } = exchange;
  if (path.startsWith(providersPath)) return "";
  const principal = await principalOf(exchange);
  if (principal === null) return "";
  const dialect = dialectOf(route, path, request.headers);
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
async function principalOf(exchange: Exchange): Promise<Principal | null> {
  try {
    return await authenticated(exchange);
  } catch (thrown) {
    if (asFailure(thrown).code === "internal_error") throw thrown;
    return null;
  }
}
