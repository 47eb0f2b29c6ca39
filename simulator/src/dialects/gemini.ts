import { silentAnswer } from "../answer.ts";
import type { Dialect, Exchange } from "../dialect.ts";
import { jsonArrayFraming } from "../framing.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { geminiEvents, geminiWhole } from "./gemini-reply.ts";
import { type GeminiRequest, readGemini } from "./gemini-request.ts";
import { googleError, googleErrorEvent, googleHeaders, requireBearer, requireGoogleKey } from "./google-conventions.ts";

/** Gemini's generateContent, streamGenerateContent (as SSE or as one JSON array) and countTokens; also on Vertex. */
export const gemini: Dialect = {
  id: "gemini",
  matches: ({ method, path }) => method === "POST" && pathPattern.test(path),
  read(request) {
    if (request.path.includes("/publishers/")) requireBearer(request);
    else requireGoogleKey(request);
    const { model, method } = partsOf(request);
    const array = new URLSearchParams(request.query).get("alt") !== "sse";
    const read = readGemini(request, { model, stream: method === "streamGenerateContent", array });
    return method === "countTokens" ? countExchange(read) : geminiExchange(read, array);
  },
  headers: googleHeaders,
  error: googleError,
};

/** A model name may contain slashes and colons; the method follows the last colon. */
const pathPattern = /\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;

function partsOf({ path }: SimulatorRequest): { readonly model: string; readonly method: string } {
  const match = pathPattern.exec(path);
  return { model: pathPart(match?.[1]), method: match?.[2] ?? "" };
}

function geminiExchange(request: GeminiRequest, array: boolean): Exchange {
  return {
    parsed: request.parsed,
    framing: () => (array ? jsonArrayFraming() : null),
    ping: null,
    whole: (head, answer) => geminiWhole(request, head, answer),
    events: (head, answer) => geminiEvents(request, head, answer),
    errorEvent: googleErrorEvent,
  };
}

function countExchange({ parsed }: GeminiRequest): Exchange {
  return {
    parsed,
    ping: null,
    compose: (script) => silentAnswer(script.prompt_tokens ?? parsed.promptTokens),
    whole: (head, { promptTokens }) =>
      JSON.stringify({
        totalTokens: promptTokens,
        ...(head.script.cached_tokens === undefined ? {} : { cachedContentTokenCount: head.script.cached_tokens }),
        promptTokensDetails: [{ modality: "TEXT", tokenCount: promptTokens }],
      }),
    events: () => [],
    errorEvent: googleErrorEvent,
  };
}
