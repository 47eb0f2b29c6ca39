import { type Batch, type BatchRow, type BatchState, Failure, pulledStream } from "#core/index.ts";
import type { BatchesOptions } from "../options.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import { Turns } from "../turns.ts";
import { type ResultLine, renderRow } from "./render-row.ts";

/** Rows that are read at once: each may have batchBounds.resultBytesMax. */
const rowsPage = 8;
/** More than any batch can have. */
const resultBytesMax = 64 * 1024 * 1024 * 1024;
/** Default life of the files of a result, as at OpenAI. */
const fileLifeMs = 30 * 24 * 3_600_000;
/** Delay until the next try, if there is no room for the result, or its store is busy or down. */
const fullMs = 300_000;
const busyMs = 30_000;

/**
 * Writes the result of a batch when all rows have ended, and ends the batch. It may be interrupted anywhere and repeated: equal rows give
 * equal bytes. False: it has not ended yet.
 */
export async function finishBatch(dependencies: BatchesOptions, leased: LeasedBatch): Promise<boolean> {
  const { store, blobs, clock, observer } = dependencies;
  if (!(await store.step(leased, { state: "finalizing", finalizingAt: clock.now() }, false))) return false;
  const batch = await store.findById(leased.batch.id);
  if (batch === null) return false;
  let result: Partial<Batch>;
  try {
    result = await (batch.inputFileId !== null
      ? writeFiles(dependencies, leased, batch)
      : writeBlob(dependencies, leased));
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    const { id, workspaceId } = batch;
    observer.log("warn", "failed to store the result of a batch; retrying", {
      ...{ batch: id, workspace: workspaceId, error: thrown },
    });
    const waitMs = thrown.code === "file_quota_exceeded" ? fullMs : busyMs;
    await store.step(leased, { dueAt: clock.now() + waitMs }, true);
    return false;
  }
  const step: Partial<Batch> = { state: endState(batch), endedAt: clock.now(), inputHash: null, ...result };
  if (!(await store.step(leased, step, true))) return false;
  if (batch.inputHash !== null) await blobs.remove(batch.inputHash);
  await store.deleteRows(batch.id);
  return true;
}

function endState({ cancelAt, expired }: Batch): BatchState {
  if (cancelAt !== null) return "canceled";
  return expired > 0 ? "expired" : "completed";
}

async function writeBlob(dependencies: BatchesOptions, leased: LeasedBatch): Promise<Partial<Batch>> {
  const { blobs, store } = dependencies;
  const lines = linesOf(dependencies, leased, () => true);
  const { hash, size } = await blobs.put(lines, resultBytesMax, new AbortController().signal, async (info) => {
    // A row names the blob before it is there, so that it can be found if this process dies.
    await store.step(leased, { outputHash: info.hash, outputBytes: info.size }, false);
  });
  return { outputHash: hash, outputBytes: size };
}

/** A batch from a file has its result in files: OpenAI's one of answers and one of errors, without empty ones; Gemini's one of both. */
async function writeFiles(dependencies: BatchesOptions, leased: LeasedBatch, batch: Batch): Promise<Partial<Batch>> {
  const { files, store, clock } = dependencies;
  const { id, workspaceId, keyId, personId = null, createdAt, outputLifeMs } = batch;
  const expiresAt = clock.now() + (outputLifeMs ?? fileLifeMs);
  const write = async (name: "output" | "error", isEmpty: boolean): Promise<string | null> => {
    const done = name === "output" ? batch.outputFileId : batch.errorFileId;
    if (done !== null || isEmpty) return done;
    const facts = {
      purpose: "batch_output",
      filename: `${id}_${name}.jsonl`,
      mediaType: "application/jsonl",
      expiresAt,
      sizeBytes: null,
    };
    const lines = linesOf(
      dependencies,
      leased,
      ({ isError }) => batch.api === "gemini" || isError === (name === "error"),
    );
    const file = await files.create({ workspaceId, keyId, personId }, facts, lines, new AbortController().signal);
    await store.step(leased, name === "output" ? { outputFileId: file.id } : { errorFileId: file.id }, false);
    return file.id;
  };
  const outputFileId = await write("output", batch.api === "openai" && batch.succeeded === 0);
  const errorFileId = await write("error", batch.api === "gemini" || batch.succeeded === batch.total);
  // Its files have their own ends.
  return { outputFileId, errorFileId, deleteAt: Math.max(createdAt, expiresAt) };
}

function linesOf(
  { store, clock }: BatchesOptions,
  leased: LeasedBatch,
  isWanted: (line: ResultLine) => boolean,
): ReadableStream<Uint8Array> {
  const { batch } = leased;
  const turns = new Turns(clock);
  let after = -1;
  return pulledStream(async () => {
    for (;;) {
      await turns.pause();
      const rows: readonly BatchRow[] = await store.rows(batch.id, after, rowsPage);
      const last = rows.at(-1);
      if (last === undefined) return null;
      after = last.position;
      const lines = rows.map((row) => renderRow(batch, row)).filter(isWanted);
      if (lines.length > 0) return Buffer.from(lines.map(({ text }) => `${text}\n`).join(""));
    }
  });
}
