import { type Batch, type BatchRow, batchRequestId, Failure, finalBatchStates } from "#core/index.ts";
import { jsonLines } from "../accept/json-lines.ts";
import type { BatchesOptions } from "../options.ts";
import { Turns } from "../turns.ts";

/** A failed row, without the texts of its answer. */
export interface FailedRow {
  readonly position: number;
  readonly customId: string;
  readonly status: number | null;
  /** The code or type of the error; null: the answer names none. */
  readonly code: string | null;
}

/** How much of a result is read to find failed rows. */
const scanBytesMax = 8 * 1024 * 1024;

/** The first failed rows: from the table while the batch is open, then from its result, if that still exists. */
export async function failedRows(options: BatchesOptions, batch: Batch, limit: number): Promise<readonly FailedRow[]> {
  const wanted = Math.min(limit, batch.errored);
  if (wanted === 0) return [];
  if (!finalBatchStates.has(batch.state)) {
    const rows = await options.store.erroredRows(batch.id, wanted);
    return rows.map(failedRow);
  }
  const stream = await errorStream(options, batch);
  if (stream === null) return [];
  const found: FailedRow[] = [];
  const turns = new Turns(options.clock);
  let index = 0;
  // Leaving the loop cancels the stream.
  for await (const { bytes } of jsonLines(stream)) {
    const position = index++;
    const row = bytes === null ? null : rowIn(batch, bytes, position);
    if (row !== null) found.push(row);
    if (found.length === wanted) break;
    await turns.pause();
  }
  return found;
}

function failedRow({ position, customId, httpStatus, result }: BatchRow): FailedRow {
  return { position, customId, status: httpStatus, code: codeIn(parsed(result ?? "")) };
}

async function errorStream(
  { blobs, files }: BatchesOptions,
  { api, workspaceId, errorFileId, outputHash, outputBytes }: Batch,
): Promise<ReadableStream<Uint8Array> | null> {
  if (api !== "openai") {
    return outputHash === null ? null : await blobs.read(outputHash, 0, Math.min(outputBytes, scanBytesMax));
  }
  if (errorFileId === null) return null;
  try {
    const file = await files.get(workspaceId, errorFileId);
    return await files.open(file, 0, Math.min(file.sizeBytes, scanBytesMax));
  } catch (thrown) {
    // The file was deleted, or has expired.
    if (thrown instanceof Failure && (thrown.code === "not_found" || thrown.code === "file_expired")) return null;
    throw thrown;
  }
}

/** null: the row did not fail, or the line is cut. */
function rowIn(batch: Batch, bytes: Uint8Array, index: number): FailedRow | null {
  const line = parsed(Buffer.from(bytes).toString());
  if (batch.api === "openai") {
    const id = textIn(line, "id");
    const prefix = `batch_${batchRequestId(batch.id, 0).slice(0, -4)}`;
    const response = memberIn(line, "response");
    const customId = textIn(line, "custom_id");
    // Canceled and expired rows have no response.
    if (id === null || customId === null || !id.startsWith(prefix) || response === null) return null;
    const position = Number.parseInt(id.slice(prefix.length), 36);
    return { position, customId, status: numberIn(response, "status_code"), code: codeIn(memberIn(response, "body")) };
  }
  if (batch.api === "anthropic") {
    const result = memberIn(line, "result");
    const customId = textIn(line, "custom_id");
    if (customId === null || textIn(result, "type") !== "errored") return null;
    return { position: index, customId, status: null, code: codeIn(memberIn(result, "error")) };
  }
  const error = memberIn(line, "error");
  const customId = textIn(line, "key");
  const status = numberIn(error, "code");
  // Smaller codes are of rows that were canceled or expired.
  if (customId === null || status === null || status < 100) return null;
  return { position: index, customId, status, code: textIn(error, "status") };
}

function codeIn(answer: unknown): string | null {
  const error = memberIn(answer, "error");
  return textIn(error, "code") ?? textIn(error, "status") ?? textIn(error, "type");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function memberIn(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? (Reflect.get(value, name) ?? null) : null;
}

function textIn(value: unknown, name: string): string | null {
  const member = memberIn(value, name);
  return typeof member === "string" && member !== "" ? member : null;
}

function numberIn(value: unknown, name: string): number | null {
  const member = memberIn(value, name);
  return typeof member === "number" ? member : null;
}
