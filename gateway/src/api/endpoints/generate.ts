import { Failure } from "#core/index.ts";
import type { PathFacts } from "#protocols/index.ts";
import type { Exchange } from "../dependencies.ts";
import { generateProtocol } from "../endpoint-protocols.ts";
import { modelAsked, verbOf } from "../google-path.ts";
import { modelCall } from "../model-call.ts";

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
