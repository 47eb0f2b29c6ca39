import { type Answer, Failure } from "#core/index.ts";
import type { Span } from "../json/cursor.ts";
import { scanObject } from "../json/scan.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf } from "../json/value.ts";

/** An upstream that does not keep to its dialect, or says that it failed. Another may serve. */
export function upstreamFault(message: string, cause?: unknown): Failure {
  return new Failure("upstream_error", message, { retry: "other", unhealthy: true, cause });
}

/** An answer that keeps to its dialect and holds what is not carried, or more than is held. The deployment is well. */
export function unsupportedReply(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other" });
}

/** What came first in a stream is no event of its dialect: the rest of it is not passed on. */
export function invalidFirstEvent(): Failure {
  return upstreamFault("The upstream's first event is not valid JSON.");
}

/** The upstream ended its answer itself, and says that it ended in an error. */
export function answerEndedInError(): Failure {
  return new Failure("upstream_error", "The upstream could not finish its answer.", { retry: "other" });
}

/** The answer, unless it ended in an error. Throws Failure upstream_error. */
export function requireFinishedAnswer(answer: Answer): Answer {
  if (answer.finish.reason === "error") throw answerEndedInError();
  return answer;
}

/** OpenAI's own code for a prompt that is too long: Codex and others make the conversation shorter at it. */
export const contextLengthCode = "context_length_exceeded";

/** Of OpenAI, llama.cpp and Z.ai. */
const codes: ReadonlySet<string> = new Set([contextLengthCode, "exceed_context_size_error", "1261"]);

/** Statuses with which vendors refuse a prompt for its length. */
const statuses: ReadonlySet<number> = new Set([400, 413, 422]);

/** The other vendors have no code for it, only words. */
const words = new RegExp(
  [
    "context (?:length|window|size|limit)",
    "(?:prompt|input) is too long|prompt too long",
    "maximum (?:prompt|model) length|model token limit|range of input length",
    "too many (?:input )?tokens|number of input tokens exceeds",
    "input token count.{0,200}(?:exceeds|only supports)",
    "`inputs`.{0,40}tokens",
  ].join("|"),
  "is",
);

/** Whether an error says that the prompt is too long for its model. `status`: null inside a stream or a whole answer. */
export function isContextTooLong(status: number | null, code: string | null, message: string): boolean {
  if (status !== null && !statuses.has(status)) return false;
  return (code !== null && codes.has(code)) || words.test(message);
}

/**
 * The error of a chat completion, or of a chunk of one, that has no member `error` and a good status: of choices without an answer
 * (OpenRouter, `choices[].error`), or MiniMax's `base_resp`. null: there is none.
 */
export function choiceError({ choices, base_resp }: JsonObject): JsonObject | null {
  const all = arrayOf(choices).map(objectOf);
  const error = all[0]?.["error"];
  if (isObject(error)) return all.every(isUnanswered) ? error : null;
  const { status_code, status_msg } = objectOf(base_resp);
  const code = numberOf(status_code);
  if (all.length > 0 || code === null || code === 0) return null;
  return { code: minimaxStatus(code) ?? code, message: status_msg };
}

function isUnanswered({ error, message }: JsonObject): boolean {
  const { content, tool_calls } = objectOf(message);
  return isObject(error) && (content ?? "") === "" && arrayOf(tool_calls).length === 0;
}

/** MiniMax: a plan that is used up. */
export const minimaxPlanUsedUp = 2056;

/** The HTTP status that a code of MiniMax's `base_resp` stands for. Undefined: a code that is not known. */
export function minimaxStatus(code: number): number | undefined {
  return minimaxStatuses.get(code);
}

const minimaxStatuses: ReadonlyMap<number, number> = new Map([
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  // Tokens per minute, connections, characters that are not visible, a rate that grows too fast, a plan that is used up (K).
  [1039, 429],
  [1041, 429],
  [1042, 400],
  [2013, 400],
  [2045, 429],
  [2049, 401],
  [minimaxPlanUsedUp, 429],
]);

/** An event that breaks its dialect. `why` goes on after "An event of the upstream". */
export function invalidEvent(why: string): Failure {
  return upstreamFault(`An event of the upstream ${why}.`);
}

/** An answer that breaks its dialect. `why` goes on after "The upstream's answer". */
export function invalidReply(why: string, cause?: unknown): Failure {
  return upstreamFault(`The upstream's answer ${why}.`, cause);
}

/** The wanted members of a whole answer. Throws Failure upstream_error when it is no JSON object; `why`: see brokenReply. */
export function scanReply(body: Uint8Array, wanted: ReadonlySet<string>, why = "is not valid JSON"): Map<string, Span> {
  try {
    return scanObject(body, wanted);
  } catch (thrown) {
    throw invalidReply(why, thrown);
  }
}

/** What an error inside an answer or a stream says. */
export function errorText(error: unknown): string {
  return textOf(error) ?? textOf(objectOf(error)["message"]) ?? "unknown error";
}
