import { modelEndpoints } from "@sluice/contract/words";
import { Failure, type NativeEndpointId, nativeDialects } from "#core/index.ts";
import {
  ImagesFormReader,
  type PathFacts,
  readMultipartType,
  requireVendorVersion,
  TranscriptionFormReader,
} from "#protocols/index.ts";
import type { EndpointProtocol } from "#relay/index.ts";
import { withKey } from "../authenticated.ts";
import { isJsonType, jsonOrForm, mayBeLarge } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { actionOf, factsOfPath } from "../google-path.ts";
import { modelCall, refusedUnread, runCall } from "../model-call.ts";
import { json } from "../respond.ts";
import { readFormBody } from "../spooled-body.ts";

export const chat = modelCall({ protocol: protocols.chat });

export const images = modelCall({ protocol: protocols.images, takesAssets: true });

export const imageEdits: Endpoint = (exchange) =>
  isJsonType(exchange.request.headers.get("content-type")) ? jsonEdits(exchange) : formEdits(exchange);

const jsonEdits = modelCall({ protocol: protocols["image-edits"], takesAssets: true });
const formEdits = formCall(protocols["image-edits"], () => new ImagesFormReader(), jsonOrForm);

export const generate = modelCall({ protocol: protocols.generate, path: readPath });

function readPath(exchange: Exchange, available: (model: string) => boolean): PathFacts {
  const stream = actionOf(exchange.path) === "streamGenerateContent";
  if (stream && new URLSearchParams(exchange.query).get("alt") !== "sse") {
    throw new Failure("invalid_request", "Streams are sent as server-sent events only: add ?alt=sse.", {
      param: "alt",
    });
  }
  return { ...factsOfPath(exchange, available), stream };
}

export const embedContent = modelCall({ protocol: protocols["embed-content"], path: factsOfPath });
export const batchEmbedContents = modelCall({ protocol: protocols["batch-embed-contents"], path: factsOfPath });

export const messages = modelCall({ protocol: protocols.messages, require: requireVersion, forwardsQuery: true });

/** The caller chooses the version, and it is forwarded unchanged. Source: Anthropic API, "Versions". */
function requireVersion({ request }: Exchange): void {
  requireVendorVersion(request.headers);
}

/**
 * POST /v1/messages/count_tokens. If no upstream of the model can count, the answer is the estimate that budgets use, with a
 * warning: a client then trims its prompt a little early or late instead of failing.
 */
export const countTokens = modelCall({
  protocol: protocols["count-tokens"],
  require: requireVersion,
  forwardsQuery: true,
  unserved: ({ inputEstimate }) => estimatedCount({ input_tokens: inputEstimate }),
});

/** POST /v1beta/models/{model}:countTokens, and below /v1/models/. */
export const geminiCountTokens = modelCall({
  protocol: protocols["gemini-count-tokens"],
  path: factsOfPath,
  unserved: ({ inputEstimate }) => estimatedCount({ totalTokens: inputEstimate }),
});

/** POST /v1/responses/input_tokens. */
export const inputTokens = modelCall({
  protocol: protocols["input-tokens"],
  unserved: ({ inputEstimate }) => estimatedCount({ object: "response.input_tokens", input_tokens: inputEstimate }),
});

/** An estimate in the shape of its dialect, with a warning about its last member. */
function estimatedCount(count: object): Response {
  const response = json(count);
  const name = Object.keys(count).at(-1);
  response.headers.set("x-sluice-warnings", `${name} is an estimate: no upstream of this model counts tokens`);
  return response;
}

export const responses = modelCall({ protocol: protocols.responses });

export const compact = modelCall({ protocol: protocols["responses-compact"] });

const soundForm = "A sound is sent as a form: send `content-type: multipart/form-data` with `file` and `model`.";

/** Endpoints without translation: a call is forwarded with only its model replaced, its answer unchanged. */
export const nativeRoutes: readonly (readonly [path: string, name: NativeEndpointId, post: Endpoint])[] = (
  Object.keys(nativeDialects) as NativeEndpointId[]
).map((name) => [modelEndpoints[name].path, name, nativeEndpoint(protocols[name])]);

function nativeEndpoint(protocol: EndpointProtocol): Endpoint {
  return protocol.wireDialect === "openai-transcriptions"
    ? formCall(protocol, () => new TranscriptionFormReader(), soundForm)
    : modelCall({ protocol });
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
