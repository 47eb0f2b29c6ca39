import { Failure } from "#core/index.ts";
import type { PathFacts } from "#protocols/index.ts";
import type { Exchange } from "../face.ts";
import { modelCall } from "../model-call.ts";
import { generateSpeech } from "../speeches.ts";

export const generatePrefix = "/v1beta/models/";

/** POST /v1beta/models/{model}:generateContent and :streamGenerateContent. */
export const generate = modelCall({ speech: generateSpeech, path: readPath });

/** Whether a path below the prefix is one of these calls. */
export function isGenerate(path: string): boolean {
  return path.startsWith(generatePrefix) && (path.endsWith(wholeVerb) || path.endsWith(streamVerb));
}

const wholeVerb = ":generateContent";
const streamVerb = ":streamGenerateContent";

/** Model names may hold slashes and colons: everything between the prefix and the last colon is the name. */
function readPath({ path, query }: Exchange): PathFacts {
  const stream = path.endsWith(streamVerb);
  if (stream && new URLSearchParams(query).get("alt") !== "sse") {
    throw new Failure("invalid_request", "Streams are sent as server-sent events only: ask with ?alt=sse.", {
      param: "alt",
    });
  }
  const name = path.slice(generatePrefix.length, path.lastIndexOf(":"));
  try {
    return { model: decodeURIComponent(name), stream };
  } catch {
    throw new Failure("invalid_request", "The model in the path is not valid percent-encoding.", { param: "model" });
  }
}
