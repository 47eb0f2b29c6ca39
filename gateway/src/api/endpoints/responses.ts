import { bounds, Failure, type Principal } from "#core/index.ts";
import { mayCall } from "#identity/index.ts";
import { serves } from "#relay/index.ts";
import { authenticated } from "../authenticated.ts";
import type { CallRequest } from "../call-request.ts";
import type { ApiDependencies, Endpoint, Exchange, SocketOpening } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { answerOf, grantOf, StreamEnd } from "../model-call.ts";
import { renderFailure } from "../respond.ts";
import { ResponsesSession } from "../socket/responses-session.ts";

/** A response that an upstream stores: GET, DELETE, `/cancel` and `/input_items`. */
export const storedResponse: Endpoint = async (dependencies, exchange) => {
  const { request, requestId } = exchange;
  const principal = await authenticated(dependencies, exchange);
  const [id = "", ...rest] = exchange.path.slice("/v1/responses/".length).split("/");
  const end = new StreamEnd();
  const result = await dependencies.relay.ask({
    requestId,
    principal,
    protocol: protocols.responses,
    upstreamId: decodeId(id),
    method: request.method as "GET" | "POST" | "DELETE",
    rest: rest.length === 0 ? "" : `/${rest.join("/")}`,
    query: exchange.query,
    headers: request.headers,
    signal: request.signal,
    startedMs: exchange.startedMs,
    mayCall: grantOf(principal),
    streamEnd: end.tell,
  });
  return answerOf(exchange, result, protocols.responses, end);
};

function decodeId(segment: string): string {
  try {
    const id = decodeURIComponent(segment);
    if (/^[\w.:-]{1,200}$/.test(id)) return id;
  } catch {
    // Same error as for an id with other characters.
  }
  throw new Failure("not_found", "There is no response with this id.", { param: "id" });
}

/** Open WebSockets, in total and of one workspace. */
const socketsMax = 1_000;
const socketsOfWorkspaceMax = 256;

/**
 * GET /v1/responses with an upgrade: Responses over a WebSocket. If that is not possible the answer is 426, after which Codex falls
 * back to HTTP at once; after any other error it retries five times.
 */
export const responsesSocket: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const { openSocket } = exchange;
  if (!exchange.request.headers.has("upgrade")) {
    return refused("A proxy removed the upgrade to a WebSocket from the request.", exchange);
  }
  if (openSocket === undefined) return refused("This call cannot become a WebSocket.", exchange);
  // RFC 6455, 4.2.2.
  if (!isHandshake(exchange.request)) {
    const answer = refused("The request is no WebSocket handshake of version 13.", exchange);
    answer.headers.set("sec-websocket-version", "13");
    return answer;
  }
  const problem = problemOf(dependencies, principal, openSocket);
  if (problem !== null) return refused(problem, exchange);
  return openSocket.upgrade({
    owner: principal,
    headers: { "x-request-id": exchange.requestId },
    open: (link) => new ResponsesSession(dependencies, exchange, openSocket.call, link, principal),
    onEnd: exchange.streams(),
  });
};

/** RFC 6455, 4.1: the key is 16 bytes in base64. */
function isHandshake({ headers, body }: CallRequest): boolean {
  return (
    body === null &&
    headers.get("sec-websocket-version") === "13" &&
    /^[\w+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "")
  );
}

function refused(why: string, exchange: Exchange): Response {
  const failure = new Failure("websocket_unavailable", `${why} Use POST /v1/responses, with \`stream\` for events.`);
  exchange.seen.failure = failure;
  // RFC 9110, 15.5.22: a 426 names the supported protocols.
  const headers = { upgrade: "HTTP/1.1", connection: "upgrade" };
  return renderFailure(failure, exchange.requestId, headers, protocols.responses.dialect);
}

function problemOf(
  dependencies: ApiDependencies,
  principal: Principal,
  { open, openOf }: SocketOpening,
): string | null {
  if (open >= socketsMax) return "The gateway has too many open WebSockets.";
  if (openOf(principal.key.id) >= bounds.socketsOfKeyMax) return "The key has too many open WebSockets.";
  if (openOf(principal.workspace.id) >= socketsOfWorkspaceMax) return "The workspace has too many open WebSockets.";
  for (const model of dependencies.configSnapshot().models.values()) {
    if (mayCall(principal, model.name) && serves([model], protocols.responses)) return null;
  }
  return "No model of this key can be called with Responses.";
}
