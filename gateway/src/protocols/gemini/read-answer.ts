import { type Answer, Failure } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { gatherAnswer } from "../turn/answer-events.ts";
import { GeminiEventReader, parseResponse } from "./read-events.ts";

/** A whole answer is a stream of one event. */
export function readGeminiAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const response = parseResponse(decoder.decode(body));
  requireAnswer(response);
  return gatherAnswer((emit) => {
    const reader = new GeminiEventReader(emit, source);
    reader.take(response);
    reader.end();
  });
}

/** Neither candidates nor the reason why there are none: there is nothing to make an answer of. */
function requireAnswer(response: JsonObject): void {
  const { candidates, promptFeedback, error } = response;
  if ((Array.isArray(candidates) && candidates.length > 0) || promptFeedback !== undefined || error !== undefined)
    return;
  throw new Failure("upstream_error", "The upstream's answer has no candidates.", { retry: "other", unhealthy: true });
}

const decoder = new TextDecoder();
