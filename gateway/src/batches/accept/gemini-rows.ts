import { Failure } from "#core/index.ts";
import { editBody, skimObject, skimValue, textOf } from "#protocols/index.ts";
import { batchBounds } from "../batch-bounds.ts";
import { jsonLines } from "./json-lines.ts";
import type { SentRow } from "./sent-row.ts";

type Span = { readonly start: number; readonly end: number };

/** Rows of a file: `{"key", "request"}` per line. `model`: of the path. */
export async function* geminiFileRows(pieces: AsyncIterable<Uint8Array>, model: string): AsyncGenerator<SentRow> {
  for await (const { line, bytes } of jsonLines(pieces)) {
    const found = bytes === null ? null : skimObject(bytes, 0, bytes.length, fileMembers);
    const bad = (message: string): SentRow => ({ line, customId: null, body: invalid(message, "key") });
    if (bytes === null) yield bad(`Line ${line} is longer than ${batchBounds.rowBytesMax} bytes.`);
    else if (found === null) yield bad(`Line ${line} is not a valid JSON object.`);
    else {
      const key = keyIn(bytes, found);
      if (key === null) yield bad(`Line ${line}: key must be ${keyRule}.`);
      else yield { line, customId: key, body: requestIn(bytes, found.get("request"), model) };
    }
  }
}

/**
 * Rows in the body of the creation: `{"request", "metadata": {"key"}}`. `spans`: the start and the end of each row. Throws Failure
 * invalid_request.
 */
export async function* geminiInlineRows(body: Uint8Array, spans: Uint32Array, model: string): AsyncGenerator<SentRow> {
  for (let line = 1; 2 * line <= spans.length; line++) {
    const [start = 0, end = 0] = spans.subarray(2 * line - 2, 2 * line);
    const found = skimObject(body, start, end, inlineMembers);
    if (found === null) throw invalid(`Request ${line} must be an object.`, "batch.inputConfig.requests");
    const metadata = found.get("metadata");
    const keys = metadata === undefined ? null : skimObject(body, metadata.start, metadata.end, fileMembers);
    const customId = keys?.has("key") ? keyIn(body, keys) : unnamedRow(line - 1);
    if (customId === null) throw invalid(`Request ${line}: metadata.key must be ${keyRule}.`, "metadata.key");
    yield { line, customId, body: requestIn(body, found.get("request"), model) };
  }
}

/** The name of a row without a key. */
export function unnamedRow(position: number): string {
  return `request-${position + 1}`;
}

const keyRule = `a text of at most ${batchBounds.customIdMax.gemini} characters`;
const fileMembers = new Set(["key", "request"]);
const inlineMembers = new Set(["metadata", "request"]);
const modelMember = new Set(["model"]);

/** The request without its model. Only the model of the path is allowed. */
function requestIn(bytes: Uint8Array, span: Span | undefined, model: string): Uint8Array | Failure {
  if (span === undefined) return invalid("request is missing.", "request");
  const request = bytes.slice(span.start, span.end);
  const found = skimObject(request, 0, request.length, modelMember);
  if (found === null) return invalid("request must be an object.", "request");
  if (!found.has("model")) return request;
  const named = textOf(skimValue(request, found.get("model")));
  if (named !== null && named.replace(/^models\//, "") !== model.replace(/^models\//, "")) {
    return invalid(`The model "${named}" of the request differs from the model of the batch.`, "model");
  }
  return editBody(request, { remove: ["model"] });
}

/** null: it is not a text, or too long. */
function keyIn(bytes: Uint8Array, members: ReadonlyMap<string, Span>): string | null {
  const key = textOf(skimValue(bytes, members.get("key")));
  return key === null || key.length > batchBounds.customIdMax.gemini ? null : key;
}

function invalid(message: string, param: string): Failure {
  return new Failure("invalid_request", message, { param });
}
