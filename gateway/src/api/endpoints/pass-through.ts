import { asFailure, Failure, type HeaderReader, type Principal, passedModel } from "#core/index.ts";
import { mayPassThrough, whyNotPassThrough } from "#identity/index.ts";
import type { OutboundMethod } from "#ports/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import {
  type Call,
  type EndpointProtocol,
  noSuchProvider,
  type PassedPlace,
  passedPrice,
  uploadUrlHeader,
} from "#relay/index.ts";
import { authenticated } from "../authenticated.ts";
import { mayBeLarge } from "../body.ts";
import type { Answer } from "../call-request.ts";
import { holderOf } from "../callable-models.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { isGoogles } from "../google-path.ts";
import { answerOf, callOf, refused, StreamEnd, unread } from "../model-call.ts";
import { PassedBody, type ReadPassedBody } from "../passed-body.ts";
import { captureOf } from "../request-capture.ts";
import { originOf } from "../request-parts.ts";

export const providersPath = "/v1/providers/";

/**
 * Any call of a provider's own API, for keys that are granted the provider: below /v1/providers/{provider}/ stands what stands below
 * its base URL. Bodies go through as they are, both ways.
 */
export const passThrough: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  exchange.patient();
  const asked = askedOf(exchange);
  const met = placeOf(dependencies, exchange, principal, asked);
  if (met instanceof Response) return met;
  const arriving = new PassedBody(dependencies, exchange, met, principal);
  const { protocol } = met;
  const head = { principal, place: met, facts: unread, protocol, bodyWaitMs: 0 };
  if (arriving.isThere && mayBeLarge(exchange.request)) {
    const refusal = await dependencies.relay.refusedUnread(passedCall(exchange, head), met);
    if (refusal !== null) return refused(exchange, refusal, protocol);
  }
  try {
    const startMs = dependencies.clock.monotonic();
    const { body, facts, fields } = await arriving.read();
    const bodyWaitMs = dependencies.clock.monotonic() - startMs;
    return await passed(dependencies, exchange, { ...head, body, facts, fields, bodyWaitMs });
  } catch (thrown) {
    arriving.discard();
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") throw thrown;
    return refused(exchange, { failure, headers: {} }, protocol);
  } finally {
    arriving.release();
  }
};

/** Frames between a caller and a provider could be neither counted nor bounded. */
export const passThroughSocket: Endpoint = async (dependencies, exchange) => {
  await authenticated(dependencies, exchange);
  throw new Failure("websocket_unavailable", "WebSockets are not passed through to providers.");
};

interface Asked {
  readonly providerId: string;
  readonly path: string;
  readonly query: string;
}

/** Of the target as its caller wrote it; a path with dot segments was refused before. */
function askedOf({ path, query }: Exchange): Asked {
  const rest = path.slice(providersPath.length);
  const end = rest.indexOf("/");
  return end === -1
    ? { providerId: rest, path: "/", query }
    : { providerId: rest.slice(0, end), path: rest.slice(end), query };
}

/** The grant comes first: nobody learns what exists beside it. Every refusal is written down. */
function placeOf(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
  asked: Asked,
): PassedPlace | Response {
  let protocol = unknownProtocol(exchange.request.headers);
  try {
    if (!mayPassThrough(principal, asked.providerId)) throw noSuchProvider(asked.providerId);
    protocol = { ...protocol, dialect: dependencies.relay.passedDialect(asked.providerId) ?? protocol.dialect };
    return dependencies.relay.passedPlace(asked, protocols);
  } catch (thrown) {
    const failure = asFailure(thrown);
    const why = failure.code === "not_found" ? whyNotFound(principal, asked.providerId) : failure.message;
    const head: Head = { principal, place: null, facts: null, protocol, bodyWaitMs: 0 };
    dependencies.relay.refuse(passedCall(exchange, head), failure, why);
    return refused(exchange, { failure, headers: {} }, protocol);
  }
}

/** As its headers say what client it is, as long as it is not known who it asks. */
function unknownProtocol(headers: HeaderReader): EndpointProtocol {
  const known = headers.has("anthropic-version") ? protocols.messages : isGoogles(headers) ? protocols.generate : null;
  return known === null ? protocols["pass-through"] : { ...protocols["pass-through"], dialect: known.dialect };
}

function whyNotFound(principal: Principal, provider: string): string {
  const shown = provider.slice(0, 64);
  const level = whyNotPassThrough(principal, provider);
  if (level === null) return `There is no provider called "${shown}".`;
  return `${holderOf(principal, level)} does not name the provider "${shown}" in pass_through.`;
}

interface Head {
  readonly principal: Principal;
  /** null: nobody knows yet where it goes. */
  readonly place: PassedPlace | null;
  readonly facts: RequestFacts | null;
  readonly protocol: EndpointProtocol;
  readonly bodyWaitMs: number;
}

interface ReadHead extends Head {
  readonly place: PassedPlace;
  readonly body: ReadPassedBody["body"];
  readonly fields: ReadPassedBody["fields"];
}

async function passed(dependencies: ApiDependencies, exchange: Exchange, head: ReadHead): Promise<Answer> {
  const { request } = exchange;
  const { principal, place, facts, body, fields, protocol } = head;
  const price = passedPrice(dependencies.configSnapshot(), place, facts, body !== null);
  exchange.seen.model = price.model.name;
  const kept = body === null || body instanceof Uint8Array ? (body ?? noBytes) : noteOf(body.size, request.headers);
  const capture = captureOf(dependencies, exchange, {
    principal,
    endpoint: "pass-through",
    body: kept,
    models: [{ ...price.model, deployments: [price.deployment] }],
  });
  const end = new StreamEnd();
  const call = passedCall(exchange, head, {
    models: [price.model],
    priceFloor: price.floor,
    body: body instanceof Uint8Array ? body : null,
    streamEnd: end.tell,
  });
  const method = request.method as OutboundMethod;
  const result = await dependencies.relay.pass({ call, place, price, isRead: facts !== null, method, body, fields });
  const upload = "failure" in result ? undefined : result.headers[uploadUrlHeader];
  // An upload goes on through this gateway.
  const provider = `${originOf(dependencies, exchange)}${providersPath}${place.provider.id}`;
  if (upload !== undefined) result.headers[uploadUrlHeader] = provider + upload;
  return answerOf(exchange, result, protocol, end, capture);
}

const noBytes = new Uint8Array(0);

function noteOf(size: number, headers: HeaderReader) {
  return { size: () => size, contentType: headers.get("content-type") ?? "application/octet-stream" };
}

function passedCall(exchange: Exchange, { place, facts, ...head }: Head, more: Partial<Call> = {}): Call {
  const known = facts ?? { ...unread, model: place?.path?.model ?? passedModel };
  const { method } = exchange.request;
  return {
    ...callOf(exchange, { ...head, facts: known, body: null, marks: null, query: "" }, [], () => {}),
    operation: place === null ? method : `${method} ${place.target.pathClass}`,
    ...more,
  };
}
