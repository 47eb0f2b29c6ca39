import { asFailure, Failure, type HeaderReader, type Principal, passedModel } from "#core/index.ts";
import { holderOf, mayPassThrough, passThroughDeniedBy, shadowAddressDenials } from "#identity/index.ts";
import type { OutboundMethod } from "#ports/index.ts";
import { type EndpointProtocol, endpointProtocols, type RequestFacts } from "#protocols/index.ts";
import {
  type Call,
  noSuchProvider,
  objectPrice,
  type PassThroughRoute,
  passThroughPrice,
  uploadUrlHeader,
} from "#relay/index.ts";
import { withKey } from "../authenticated.ts";
import { mayBeLarge } from "../body.ts";
import type { Answer } from "../call-request.ts";
import type { Exchange } from "../dependencies.ts";
import { isGoogles } from "../google-path.ts";
import { answerOf, callOf, unread } from "../model-call.ts";
import { announcesBody, type PassThroughBody, readPassThroughBody } from "../pass-through-body.ts";
import { captureCall } from "../request-capture.ts";
import { originOf } from "../request-parts.ts";

export const providersPath = "/v1/providers/";

/**
 * Any call of a provider's own API, for keys that are granted the provider. /v1/providers/{provider}/ maps to the provider's base
 * URL. Request and response bodies pass unchanged.
 */
export const passThrough = withKey(async (exchange, principal) => {
  const route = routeOf(exchange, principal);
  return "provider" in route ? await passBy(exchange, principal, route) : route;
});

/** Reads the body of the call and sends it by its route. */
export async function passBy(exchange: Exchange, principal: Principal, route: PassThroughRoute): Promise<Answer> {
  const { dependencies, request } = exchange;
  const { protocol } = route;
  if (announcesBody(request) && mayBeLarge(request)) {
    const unreadCall = passThroughCall(exchange, principal, protocol, route, unread);
    const refusal = await dependencies.relay.refusedUnread(unreadCall, route);
    if (refusal !== null) return answerOf(exchange, refusal, protocol);
  }
  const room = dependencies.memory.open(principal, "request");
  let read: PassThroughBody | null = null;
  try {
    const startMs = dependencies.clock.monotonic();
    read = await readPassThroughBody(exchange, route, room);
    return await forward(exchange, principal, route, read, dependencies.clock.monotonic() - startMs);
  } catch (thrown) {
    if (read?.body !== null && read?.body !== undefined && "discard" in read.body) read.body.discard();
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") throw thrown;
    return answerOf(exchange, { failure, headers: {} }, protocol);
  } finally {
    room.release();
  }
}

/** WebSockets are refused: frames to a provider could be neither metered nor bounded. */
export const passThroughSocket = withKey(() => {
  throw new Failure("websocket_unavailable", "WebSockets are not passed through to providers.");
});

/** The route of the call, or its recorded refusal. The grant is checked first, so that callers cannot find out which other providers exist. */
function routeOf(exchange: Exchange, principal: Principal): PassThroughRoute | Answer {
  const { relay } = exchange.dependencies;
  const rest = exchange.path.slice(providersPath.length);
  const end = rest.includes("/") ? rest.indexOf("/") : rest.length;
  const providerId = rest.slice(0, end);
  let protocol = protocolByHeaders(exchange.request.headers);
  try {
    if (!mayPassThrough(principal, providerId)) throw noSuchProvider(providerId);
    protocol = { ...protocol, dialect: relay.passThroughDialect(providerId) ?? protocol.dialect };
    return relay.passThroughRoute(providerId, rest.slice(end) || "/", exchange.query);
  } catch (thrown) {
    const failure = asFailure(thrown);
    const reason = failure.code === "not_found" ? whyNotFound(principal, providerId) : failure.message;
    const refusal = relay.refuse(passThroughCall(exchange, principal, protocol, null, null), failure, reason);
    return answerOf(exchange, refusal, protocol);
  }
}

/** Until the provider is found, the headers decide the dialect of errors. */
function protocolByHeaders(headers: HeaderReader): EndpointProtocol {
  const protocol = endpointProtocols["pass-through"];
  if (headers.has("anthropic-version")) return { ...protocol, dialect: endpointProtocols.messages.dialect };
  return isGoogles(headers) ? { ...protocol, dialect: endpointProtocols.generate.dialect } : protocol;
}

function whyNotFound(principal: Principal, provider: string): string {
  const shown = provider.slice(0, 64);
  const level = passThroughDeniedBy(principal, provider);
  if (level === null) return `There is no provider called "${shown}".`;
  return `${holderOf(principal, level)} does not name the provider "${shown}" in pass_through.`;
}

async function forward(
  exchange: Exchange,
  principal: Principal,
  route: PassThroughRoute,
  { body, facts, fields }: PassThroughBody,
  bodyWaitMs: number,
): Promise<Answer> {
  const { dependencies, request, seen } = exchange;
  const { protocol } = route;
  const bytes = body instanceof Uint8Array ? body : null;
  const price =
    route.owned === undefined
      ? passThroughPrice(dependencies.configSnapshot(), route, facts, body !== null)
      : objectPrice(route, request.method, bytes, dependencies.clock.now());
  seen.model = price.model.name;
  const contentType = request.headers.get("content-type") ?? "application/octet-stream";
  captureCall(exchange, {
    principal,
    endpoint: "pass-through",
    body: body === null || body instanceof Uint8Array ? (body ?? noBytes) : { size: () => body.size, contentType },
    models: [{ ...price.model, deployments: [price.deployment] }],
  });
  const call: Call = {
    ...passThroughCall(exchange, principal, protocol, route, facts, bodyWaitMs),
    models: [price.model],
    priceFloor: price.floor,
    body: bytes,
  };
  const method = request.method as OutboundMethod;
  const result = await dependencies.relay.pass({ call, route, price, isRead: facts !== null, method, body, fields });
  const upload = "failure" in result ? undefined : result.headers[uploadUrlHeader];
  // The parts of an upload go through this gateway too.
  const provider = `${originOf(exchange)}${providersPath}${route.provider.id}`;
  if (upload !== undefined) result.headers[uploadUrlHeader] = provider + upload;
  return answerOf(exchange, result, protocol);
}

const noBytes = new Uint8Array(0);

/** `route`: null if the provider is unknown; `facts`: null if the body is not understood. */
function passThroughCall(
  exchange: Exchange,
  principal: Principal,
  protocol: EndpointProtocol,
  route: PassThroughRoute | null,
  facts: RequestFacts | null,
  bodyWaitMs = 0,
): Call {
  const { method } = exchange.request;
  const readFacts = facts ?? { ...unread, model: route?.path?.model ?? passedModel };
  const read = { principal, protocol, facts: readFacts, bodyWaitMs, body: null, marks: null, query: "" };
  const operation = route === null ? method : `${method} ${route.target.pathClass}`;
  return {
    ...callOf(exchange, read, [], exchange.streamEnd),
    shadowDenials: principal.outsideShadowIps === true ? () => shadowAddressDenials(principal) : null,
    operation,
  };
}
