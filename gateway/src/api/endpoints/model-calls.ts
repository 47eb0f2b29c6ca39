import { modelEndpoints } from "@sluice/contract/words";
import { Failure, type NativeEndpointId, nativeDialects } from "#core/index.ts";
import { ImagesFormReader, type PathFacts, requireVendorVersion, TranscriptionFormReader } from "#protocols/index.ts";
import { isJsonType } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import {
  batchEmbedProtocol,
  chatProtocol,
  countTokensProtocol,
  embedContentProtocol,
  geminiCountTokensProtocol,
  generateProtocol,
  imageEditsProtocol,
  imagesProtocol,
  messagesProtocol,
  nativeProtocol,
} from "../endpoint-protocols.ts";
import { formCall, jsonOrForm } from "../form-call.ts";
import { modelAsked, verbOf } from "../google-path.ts";
import { modelCall } from "../model-call.ts";
import { json } from "../respond.ts";

/** POST /v1/chat/completions, normal and streaming. */
export const chat = modelCall({ protocol: chatProtocol });

/** POST /v1/images/generations. */
export const images = modelCall({ protocol: imagesProtocol, takesAssets: true });

/** POST /v1/images/edits, with a form or a JSON body. */
export const imageEdits: Endpoint = (dependencies, exchange) => {
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  return isJson ? jsonEdits(dependencies, exchange) : formEdits(dependencies, exchange);
};

const jsonEdits = modelCall({ protocol: imageEditsProtocol, takesAssets: true });
const formEdits = formCall(imageEditsProtocol, {
  fields: () => new ImagesFormReader(),
  wanted: jsonOrForm,
});

/** POST /v1beta/models/{model}:generateContent and :streamGenerateContent; below /v1/models/ as well. */
export const generate = modelCall({ protocol: generateProtocol, path: readPath });

function readPath(exchange: Exchange, available: (model: string) => boolean): PathFacts {
  const stream = verbOf(exchange.path) === "streamGenerateContent";
  if (stream && new URLSearchParams(exchange.query).get("alt") !== "sse") {
    throw new Failure("invalid_request", "Streams are sent as server-sent events only: ask with ?alt=sse.", {
      param: "alt",
    });
  }
  return { ...modelAsked(exchange, available), stream };
}

/** POST /v1beta/models/{model}:embedContent and :batchEmbedContents; below /v1/models/ as well. */
export const embedContent = modelCall({ protocol: embedContentProtocol, path: modelAsked });
export const batchEmbedContents = modelCall({ protocol: batchEmbedProtocol, path: modelAsked });

/** POST /v1/messages, normal and streaming. */
export const messages = modelCall({ protocol: messagesProtocol, require: requireVersion, forwardsQuery: true });

/** The version is the caller's choice, of whichever vendor, and goes on as it is. Source: Anthropic API, "Versions". */
function requireVersion({ request }: Exchange): void {
  requireVendorVersion(request.headers);
}

/**
 * POST /v1beta/models/{model}:countTokens; below /v1/models/ as well. Where no upstream of the model can count, the answer
 * is the same estimate that reservations use, and says so.
 */
export const geminiCountTokens = modelCall({
  protocol: geminiCountTokensProtocol,
  path: modelAsked,
  unserved: ({ inputEstimate }, requestId) => estimatedCount({ totalTokens: inputEstimate }, requestId),
});

const soundForm = "A sound is sent as a form: send `content-type: multipart/form-data` with `file` and `model`.";

/**
 * The endpoints whose calls are passed as they are: a body of which only the model is replaced, and whatever the upstream
 * answers. They need no file of their own.
 */
export const nativeRoutes: readonly (readonly [path: string, name: NativeEndpointId, post: Endpoint])[] = (
  Object.keys(nativeDialects) as NativeEndpointId[]
).map((name) => [modelEndpoints[name].path, name, endpointOf(name)]);

/** Sounds come as forms; everything else is JSON. */
function endpointOf(name: NativeEndpointId): Endpoint {
  const protocol = nativeProtocol(name);
  return protocol.wireDialect === "openai-transcriptions"
    ? formCall(protocol, { fields: () => new TranscriptionFormReader(), wanted: soundForm })
    : modelCall({ protocol });
}

/**
 * POST /v1/messages/count_tokens. Where no upstream of the model can count, the answer is the same estimate that
 * reservations use, and says so: a client then trims its prompt a little early or late instead of failing.
 */
export const countTokens = modelCall({
  protocol: countTokensProtocol,
  require: requireVersion,
  forwardsQuery: true,
  unserved: ({ inputEstimate }, requestId) => estimatedCount({ input_tokens: inputEstimate }, requestId),
});

/** A count that is a guess, in the shape of its dialect. */
export function estimatedCount(count: object, requestId: string): Response {
  const response = json(count, requestId);
  const [name = ""] = Object.keys(count);
  response.headers.set("x-sluice-warnings", `${name} is an estimate: no upstream of this model counts tokens`);
  return response;
}
