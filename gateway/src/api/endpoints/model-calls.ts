import { modelEndpoints } from "@sluice/contract/words";
import {
  type BodyBytes,
  type BodyMarks,
  type CarriedMedia,
  mentionsAssets,
  outcomeOf,
  sizeOf,
  wholeOf,
} from "#bodies/index.ts";
import { bounds, Failure, type HeldMemory, type Principal } from "#core/index.ts";
import { callableModels, isCallable } from "#identity/index.ts";
import {
  anthropicMessages,
  type CallEndpointId,
  type EndpointProtocol,
  endpointProtocols,
  gemini,
  ImagesFormReader,
  type PathFacts,
  type RequestFacts,
  readMultipartType,
  requireVendorVersion,
  TranscriptionFormReader,
} from "#protocols/index.ts";
import { serves } from "#relay/index.ts";
import { authenticated, withKey } from "../authenticated.ts";
import { isJsonType, jsonOrForm, mayBeLarge, modelBody, readJsonPieces } from "../body.ts";
import type { Answer } from "../call-request.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { actionOf, factsOfPath } from "../google-path.ts";
import { refusedUnread, runCall } from "../model-call.ts";
import { json } from "../respond.ts";
import { readFormBody } from "../spooled-body.ts";

type ModelEndpointId = keyof typeof modelEndpoints;

/**
 * The answers of endpoints that count tokens, if no upstream of the model can: the estimate that budgets use, with a warning. A client
 * then trims its prompt a little early or late instead of failing.
 */
const estimates: { readonly [Id in CallEndpointId]?: (tokens: number) => object } = {
  "count-tokens": (tokens) => ({ input_tokens: tokens }),
  "gemini-count-tokens": (tokens) => ({ totalTokens: tokens }),
  "input-tokens": (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
};

const soundForm = "A sound is sent as a form: send `content-type: multipart/form-data` with `file` and `model`.";

/** Every endpoint that calls a model: its path, and the protocol of its calls. */
export const modelCalls = (Object.keys(modelEndpoints) as ModelEndpointId[]).map((id) => ({
  id,
  path: modelEndpoints[id].path,
  dialect: endpointProtocols[id].dialect,
  post: endpointOf(endpointProtocols[id]),
}));

function endpointOf(protocol: EndpointProtocol): Endpoint {
  if (protocol.wireDialect === "openai-transcriptions") {
    return formCall(protocol, () => new TranscriptionFormReader(), soundForm);
  }
  const jsonEndpoint = jsonCall(protocol);
  if (protocol.endpoint !== "image-edits") return jsonEndpoint;
  const formEndpoint = formCall(protocol, () => new ImagesFormReader(), jsonOrForm);
  return (exchange) =>
    isJsonType(exchange.request.headers.get("content-type")) ? jsonEndpoint(exchange) : formEndpoint(exchange);
}

/** `caller`: absent if it is not authenticated yet. */
export type JsonCall = (exchange: Exchange, caller?: Principal) => Promise<Answer>;

/** A model call with a JSON body: authenticates, reads, and passes the call to the relay. */
export function jsonCall(protocol: EndpointProtocol): JsonCall {
  const estimate = estimates[protocol.endpoint];
  const isAnthropic = protocol.dialect === anthropicMessages;
  return async (exchange, caller) => {
    const { dependencies, request } = exchange;
    const found = caller ?? authenticated(exchange);
    const principal = found instanceof Promise ? await found : found;
    // The caller chooses the version, and it is forwarded unchanged. Source: Anthropic API, "Versions".
    if (isAnthropic) requireVendorVersion(request.headers);
    const path = protocol.dialect === gemini ? readPath(exchange, principal) : null;
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
      if (protocol.wireDialect === "openai-images") {
        const replaced = await withAssets(dependencies, principal, read, place);
        sent = replaced.sent;
        if (replaced.body === sent) read = { ...read, body: sent };
        else read = await readRequest(exchange, principal, protocol, replaced.body, path);
      }
      if (estimate !== undefined) {
        const models = callableModels(dependencies.configSnapshot(), principal, read.facts.model);
        if (models.length > 0 && !serves(models, protocol)) return estimatedCount(estimate(read.facts.inputEstimate));
      }
      // Upstreams of the same dialect get the query (`?beta=true`).
      const query = isAnthropic ? exchange.query : "";
      return await runCall(exchange, { ...read, protocol, principal, sent, bodyWaitMs, query });
    } finally {
      // An answer has begun, or there will be none.
      place.release();
    }
  };
}

/** The model in the path, and whether the answer is a stream. Throws Failure invalid_request. */
function readPath(exchange: Exchange, principal: Principal): PathFacts {
  const stream = actionOf(exchange.path) === "streamGenerateContent";
  if (stream && new URLSearchParams(exchange.query).get("alt") !== "sse") {
    throw new Failure("invalid_request", "Streams are sent as server-sent events only: add ?alt=sse.", {
      param: "alt",
    });
  }
  const configSnapshot = exchange.dependencies.configSnapshot();
  return { ...factsOfPath(exchange, (name) => isCallable(configSnapshot, principal, name)), stream };
}

/** An estimate in the shape of its dialect, with a warning about its last member. */
function estimatedCount(count: object): Response {
  const response = json(count);
  const name = Object.keys(count).at(-1);
  response.headers.set("x-sluice-warnings", `${name} is an estimate: no upstream of this model counts tokens`);
  return response;
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

/**
 * A model call with a form: spooled as it arrives, then sent upstream with only its model replaced. `wanted` is the error for
 * another content type.
 */
function formCall(
  protocol: EndpointProtocol,
  fields: () => ImagesFormReader | TranscriptionFormReader,
  wanted: string,
): Endpoint {
  return withKey(async (exchange, principal) => {
    const { request, dependencies } = exchange;
    const type = readMultipartType(request.headers.get("content-type"), wanted);
    if (mayBeLarge(request)) {
      const refused = await refusedUnread(exchange, protocol, principal);
      if (refused !== null) return refused;
    }
    const bodyStartMs = dependencies.clock.monotonic();
    const { facts, form: body } = await readFormBody(exchange, type, principal, fields());
    const bodyWaitMs = dependencies.clock.monotonic() - bodyStartMs;
    try {
      const read = { protocol, principal, facts, body, sent: body, marks: null, bodyWaitMs, query: "" };
      return await runCall(exchange, read);
    } catch (thrown) {
      body.discard();
      throw thrown;
    }
  });
}
