import { Failure } from "#core/index.ts";
import { skimObject, skimValue, textOf } from "#protocols/index.ts";
import { batchBounds } from "../batch-bounds.ts";
import { type JsonLine, jsonLines } from "./json-lines.ts";
import type { SentRow } from "./sent-row.ts";

const members = ["custom_id", "method", "url", "body"] as const;
const wanted: ReadonlySet<string> = new Set(members);

/** The rows of an input file of OpenAI's. `url`: of every row. */
export async function* openaiRows(
  pieces: AsyncIterable<Uint8Array>,
  url: string,
): AsyncGenerator<SentRow, void, undefined> {
  for await (const line of jsonLines(pieces)) yield rowOf(line, url);
}

function rowOf({ line, bytes }: JsonLine, url: string): SentRow {
  const bad = (message: string, param: string | null = null, customId: string | null = null): SentRow => {
    return { line, customId, body: new Failure("invalid_request", message, { param }) };
  };
  if (bytes === null) return bad(`The line is longer than ${batchBounds.rowBytesMax} bytes.`);
  const found = skimObject(bytes, 0, bytes.length, wanted);
  if (found === null) return bad("The line is not a valid JSON object.");
  const text = (name: (typeof members)[number]) => textOf(skimValue(bytes, found.get(name)));
  const customId = text("custom_id");
  const max = batchBounds.customIdMax.openai;
  if (customId === null || customId === "" || customId.length > max) {
    return bad(`custom_id must be a string of 1 to ${max} characters.`, "custom_id");
  }
  if (text("method") !== "POST") return bad('method must be "POST".', "method", customId);
  if (text("url") !== url) return bad(`url must be "${url}", the endpoint of the batch.`, "url", customId);
  const body = found.get("body");
  if (body === undefined) return bad("body is missing.", "body", customId);
  return { line, customId, body: bytes.slice(body.start, body.end) };
}
