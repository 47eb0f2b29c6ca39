import { bounds, Failure, type HeaderReader, type Principal } from "#core/index.ts";
import { mayCall } from "#identity/index.ts";
import { serves } from "#relay/index.ts";
import { authenticated } from "../authenticated.ts";
import type { ApiDependencies, Endpoint, Exchange, SocketOpening } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { answerOf, grantOf, modelCall, StreamEnd } from "../model-call.ts";
import { renderFailure } from "../respond.ts";
import { ResponsesSession } from "../socket/responses-session.ts";
import type { OpenSession } from "../socket/socket-link.ts";
import { estimatedCount } from "./model-calls.ts";

export const responses = modelCall({ protocol: protocols.responses });

export const compact = modelCall({ protocol: protocols["responses-compact"] });

/**
 * POST /v1/responses/input_tokens. Where no upstream of the model can count, the answer is the same estimate that
 * reservations use, and says so.
 */
export const inputTokens = modelCall({
  protocol: protocols["input-tokens"],
  unserved: ({ inputEstimate }, requestId) =>
    estimatedCount({ object: "response.input_tokens", input_tokens: inputEstimate }, requestId),
});

/** A response that an upstream keeps: GET and DELETE of itself, `/cancel`, `/input_items`. */
export const keptResponse: Endpoint = async (dependencies, exchange) => {
  const { request, requestId } = exchange;
  const principal = await authenticated(dependencies, exchange);
  const [id = "", ...rest] = exchange.path.slice("/v1/responses/".length).split("/");
  exchange.patient();
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
    // Falls through to the same answer.
  }
  throw new Failure("not_found", "There is no response with this id.", { param: "id" });
}

/** WebSockets that are open at once, in all and of one workspace. */
const socketsMax = 1_000;
const socketsOfWorkspaceMax = 256;

/**
 * GET /v1/responses with an upgrade: Responses over a WebSocket. Where that cannot be had the answer is 426, which sends
 * Codex to HTTP at once; after any other refusal it tries five times more.
 */
export const responsesSocket: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const { openSocket } = exchange;
  if (openSocket === undefined) return refused("This call cannot become a WebSocket.", exchange);
  if (!exchange.request.headers.has("upgrade")) {
    return refused("A proxy on the way takes the upgrade to a WebSocket out of requests.", exchange);
  }
  // RFC 6455, 4.2.2.
  if (!isHandshake(exchange.request.headers)) {
    const answer = refused("The request is no WebSocket handshake of version 13.", exchange);
    answer.headers.set("sec-websocket-version", "13");
    return answer;
  }
  const problem = problemOf(dependencies, principal, openSocket);
  if (problem !== null) return refused(problem, exchange);
  // The runtime's own is gone once the connection is a socket.
  const request = new Request(exchange.request.url, { headers: [...exchange.request.headers] });
  const kept: Exchange = { ...exchange, request };
  let over = (): void => {};
  const open: OpenSession = (link) =>
    new ResponsesSession(dependencies, kept, openSocket.call, link, principal, () => over());
  const headers = { "x-request-id": exchange.requestId };
  const opened = openSocket.upgrade({ headers, owner: principal, open });
  if (opened) {
    over = exchange.streams();
    return new Response(null, { status: 101 });
  }
  return refused("The connection cannot become a WebSocket.", exchange);
};

/** RFC 6455, 4.1: the key is 16 bytes in base64. */
function isHandshake(headers: HeaderReader): boolean {
  return headers.get("sec-websocket-version") === "13" && /^[\w+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "");
}

function refused(why: string, exchange: Exchange): Response {
  const failure = new Failure("websocket_unavailable", `${why} Use POST /v1/responses, with \`stream\` for events.`);
  exchange.seen.failure = failure;
  // RFC 9110, 15.5.22: the answer names what may be spoken.
  const headers = { upgrade: "HTTP/1.1", connection: "upgrade" };
  return renderFailure(failure, exchange.requestId, headers, protocols.responses.dialect);
}

function problemOf(
  dependencies: ApiDependencies,
  principal: Principal,
  { open, openOf }: SocketOpening,
): string | null {
  if (open >= socketsMax) return "As many WebSockets are open as the gateway allows.";
  if (openOf(principal.key.id) >= bounds.socketsOfKeyMax) return "As many WebSockets are open as one key may have.";
  if (openOf(principal.workspace.id) >= socketsOfWorkspaceMax) {
    return "As many WebSockets are open as one workspace may have.";
  }
  for (const model of dependencies.configSnapshot().models.values()) {
    if (mayCall(principal, model.name) && serves([model], protocols.responses)) return null;
  }
  return "None of the models of this key is served as Responses.";
}
