import { modelEndpoints } from "@sluice/contract/words";
import { Failure, type NativeEndpointId, nativeDialects } from "#core/index.ts";
import { ImagesFormReader, type PathFacts, requireVendorVersion, TranscriptionFormReader } from "#protocols/index.ts";
import { isJsonType } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { formCall, jsonOrForm } from "../form-call.ts";
import { modelAsked, verbOf } from "../google-path.ts";
import { modelCall } from "../model-call.ts";
import { json } from "../respond.ts";

export const chat = modelCall({ protocol: protocols.chat });

export const images = modelCall({ protocol: protocols.images, takesAssets: true });

export const imageEdits: Endpoint = (dependencies, exchange) => {
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  return isJson ? jsonEdits(dependencies, exchange) : formEdits(dependencies, exchange);
};

const jsonEdits = modelCall({ protocol: protocols["image-edits"], takesAssets: true });
const formEdits = formCall(protocols["image-edits"], {
  fields: () => new ImagesFormReader(),
  wanted: jsonOrForm,
});

export const generate = modelCall({ protocol: protocols.generate, path: readPath });

function readPath(exchange: Exchange, available: (model: string) => boolean): PathFacts {
  const stream = verbOf(exchange.path) === "streamGenerateContent";
  if (stream && new URLSearchParams(exchange.query).get("alt") !== "sse") {
    throw new Failure("invalid_request", "Streams are sent as server-sent events only: ask with ?alt=sse.", {
      param: "alt",
    });
  }
  return { ...modelAsked(exchange, available), stream };
}

export const embedContent = modelCall({ protocol: protocols["embed-content"], path: modelAsked });
export const batchEmbedContents = modelCall({ protocol: protocols["batch-embed-contents"], path: modelAsked });

export const messages = modelCall({ protocol: protocols.messages, require: requireVersion, forwardsQuery: true });

/** The version is the caller's choice, of whichever vendor, and goes on as it is. Source: Anthropic API, "Versions". */
function requireVersion({ request }: Exchange): void {
  requireVendorVersion(request.headers);
}

/**
 * POST /v1beta/models/{model}:countTokens; below /v1/models/ as well. Where no upstream of the model can count, the answer
 * is the same estimate that reservations use, and says so.
 */
export const geminiCountTokens = modelCall({
  protocol: protocols["gemini-count-tokens"],
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
  const protocol = protocols[name];
  return protocol.wireDialect === "openai-transcriptions"
    ? formCall(protocol, { fields: () => new TranscriptionFormReader(), wanted: soundForm })
    : modelCall({ protocol });
}

/**
 * POST /v1/messages/count_tokens. Where no upstream of the model can count, the answer is the same estimate that
 * reservations use, and says so: a client then trims its prompt a little early or late instead of failing.
 */
export const countTokens = modelCall({
  protocol: protocols["count-tokens"],
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
