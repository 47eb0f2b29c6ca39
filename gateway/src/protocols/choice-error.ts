import { arrayOf, isObject, type JsonObject, numberOf, objectOf } from "./json-value.ts";

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
  return statuses.get(code);
}

const statuses: ReadonlyMap<number, number> = new Map([
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
