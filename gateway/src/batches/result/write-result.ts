import { type Batch, type BatchRow, type BatchState, pulledStream } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import type { BatchesOptions } from "../options.ts";
import { batchLeaseMs } from "../run/own-run.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import { renderRow } from "./render-row.ts";

/** Rows that are read at once. */
const rowsPage = 32;
/** Bytes of a result: no row is larger than bounds, and no batch has more rows. */
const resultBytesMax = 64 * 1024 * 1024 * 1024;

/**
 * Writes the result of a batch when all rows have ended, and ends the batch. It may be interrupted anywhere and repeated: equal rows give equal
 * bytes. False: the lease was lost.
 */
export async function finishBatch(dependencies: BatchesOptions, leased: LeasedBatch): Promise<boolean> {
  const { store, blobs, clock } = dependencies;
  if (!(await store.step(leased, { state: "finalizing", finalizingAt: clock.now() }, false))) return false;
  const now = await store.findById(leased.batch.id);
  if (now === null) return false;
  const output = await writeRows(dependencies, leased, () => true);
  const step: Partial<Batch> = {
    ...{ state: endState(now), endedAt: clock.now(), inputHash: null },
    ...{ outputHash: output.hash, outputBytes: output.size },
  };
  if (!(await store.step(leased, step, true))) return false;
  if (now.inputHash !== null) await blobs.remove(now.inputHash);
  await store.deleteRows(now.id);
  return true;
}

function endState({ cancelAt, expired }: Batch): BatchState {
  if (cancelAt !== null) return "canceled";
  return expired > 0 ? "expired" : "completed";
}

async function writeRows(
  { store, blobs, clock }: BatchesOptions,
  leased: LeasedBatch,
  isWanted: (line: { readonly isError: boolean }) => boolean,
): Promise<BlobInfo> {
  const { batch } = leased;
  let after = -1;
  let renewedMs = clock.monotonic();
  const end = new AbortController();
  const next = async (): Promise<Uint8Array | null> => {
    for (;;) {
      const rows: readonly BatchRow[] = await store.rows(batch.id, after, rowsPage);
      const last = rows.at(-1);
      if (last === undefined) return null;
      after = last.position;
      if (clock.monotonic() - renewedMs > batchLeaseMs / 4) {
        renewedMs = clock.monotonic();
        if ((await store.renew(leased, clock.now() + batchLeaseMs)) === null)
          throw new Error("the lease of the batch was lost");
      }
      const lines = rows.map((row) => renderRow(batch, row)).filter(isWanted);
      if (lines.length > 0) return Buffer.from(lines.map(({ text }) => `${text}\n`).join(""));
    }
  };
  return await blobs.put(pulledStream(next), resultBytesMax, end.signal);
}
