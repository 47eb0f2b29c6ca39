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
export function isTooLong(status: number | null, code: string | null, message: string): boolean {
  if (status !== null && !statuses.has(status)) return false;
  return (code !== null && codes.has(code)) || words.test(message);
}
