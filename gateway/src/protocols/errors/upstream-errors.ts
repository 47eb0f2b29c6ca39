import { type Answer, Failure } from "#core/index.ts";
import type { Span } from "../json/cursor.ts";
import { scanObject } from "../json/scan.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf } from "../json/value.ts";

/** The upstream broke its dialect or reported a failure. Another may serve. */
export function upstreamFault(message: string, cause?: unknown): Failure {
  return new Failure("upstream_error", message, { retry: "other", unhealthy: true, cause });
}

/** The answer is valid but cannot be carried. The deployment stays healthy. */
export function unsupportedReply(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other" });
}

export function invalidFirstEvent(): Failure {
  return upstreamFault("The upstream's first event is not valid JSON.");
}

export function answerEndedInError(): Failure {
  return new Failure("upstream_error", "The upstream could not finish its answer.", { retry: "other" });
}

/** Throws Failure upstream_error if the answer ended in an error. */
export function requireFinishedAnswer(answer: Answer): Answer {
  if (answer.finish.reason === "error") throw answerEndedInError();
  return answer;
}

/** OpenAI's code for a prompt that is too long. Codex and others compact the conversation on it. */
export const contextLengthCode = "context_length_exceeded";

/** OpenAI, llama.cpp and Z.ai. */
const codes: ReadonlySet<string> = new Set([contextLengthCode, "exceed_context_size_error", "1261"]);

/** Statuses used for prompts that are too long. */
const statuses: ReadonlySet<number> = new Set([400, 413, 422]);

/** Other vendors have no code for it. */
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

/** `status`: null inside a stream or a successful answer. */
export function isContextTooLong(status: number | null, code: string | null, message: string): boolean {
  if (status !== null && !statuses.has(status)) return false;
  return (code !== null && codes.has(code)) || words.test(message);
}

/** The error of a chat completion or chunk without an `error` member: `choices[].error` (OpenRouter) or `base_resp` (MiniMax). */
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

/** MiniMax: the plan is used up. */
export const minimaxPlanUsedUp = 2056;

/** The status for a code in MiniMax's `base_resp`. */
export function minimaxStatus(code: number): number | undefined {
  return minimaxStatuses.get(code);
}

const minimaxStatuses: ReadonlyMap<number, number> = new Map([
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1026, 400],
  [1027, 400],
  // Tokens per minute, connections, invisible characters, rate growth, used-up plan.
  [1039, 429],
  [1041, 429],
  [1042, 400],
  [2013, 400],
  [2045, 429],
  [2049, 401],
  [minimaxPlanUsedUp, 429],
]);

/** `why` continues "An event of the upstream". */
export function invalidEvent(why: string): Failure {
  return upstreamFault(`An event of the upstream ${why}.`);
}

/** `why` continues "The upstream's answer". */
export function invalidReply(why: string, cause?: unknown): Failure {
  return upstreamFault(`The upstream's answer ${why}.`, cause);
}

/** Finds the wanted members of a whole answer. Throws Failure upstream_error if it is not a JSON object. */
export function scanReply(body: Uint8Array, wanted: ReadonlySet<string>, why = "is not valid JSON"): Map<string, Span> {
  try {
    return scanObject(body, wanted);
  } catch (thrown) {
    throw invalidReply(why, thrown);
  }
}

export function errorText(error: unknown): string {
  return textOf(error) ?? textOf(objectOf(error)["message"]) ?? "unknown error";
}
