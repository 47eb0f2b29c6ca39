import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bounds, Failure, pulledStream } from "#core/index.ts";
import type { BlobInfo, BlobStore, Clock } from "#ports/index.ts";
import { hasCode, isFullDisk, missingAsNull, storageUnavailable, unlessMissing } from "../disk/files.ts";
import { isBlobHash, receiveBlob } from "./blob-intake.ts";

/** Temporary files not written to for this long are abandoned. */
export const blobLeftoverMs = 3_600_000;

export interface DiskBlobStoreOptions {
  /** Created if missing, accessible to this user only. Several processes may share it. */
  readonly directory: string;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Blobs as files. Each is written to a temporary file, synced, and renamed to its hash, so a file with such a name is complete. Removes
 * temporary files of earlier runs.
 */
export function createDiskBlobStore({ directory, clock }: DiskBlobStoreOptions): BlobStore {
  const arriving = join(directory, "arriving");
  mkdirSync(arriving, { recursive: true, mode: 0o700 });
  removeLeftovers(arriving, clock.now());
  const pathOf = (hash: string): string => join(directory, hash.slice(0, 2), hash);
  const sizeOf = async (hash: string): Promise<number | null> =>
    isBlobHash(hash) ? ((await stat(pathOf(hash)).catch(missingAsNull))?.size ?? null) : null;
  const store: BlobStore = {
    put: (bytes, bytesMax, signal, beforeStored = ignore) => {
      const temporary = join(arriving, randomBytes(16).toString("hex"));
      const fill = async (file: FileHandle): Promise<BlobInfo> => {
        const info = await receiveBlob(bytes, bytesMax, signal, (part) => append(file, part));
        await beforeStored(info);
        return info;
      };
      return keep(temporary, pathOf, fill);
    },
    async stat(hash) {
      const size = await sizeOf(hash);
      return size === null ? null : { hash, size };
    },
    async read(hash, start, end) {
      const size = await sizeOf(hash);
      return size === null ? null : pieces(pathOf(hash), Math.max(0, start), Math.min(end, size));
    },
    async head(hash, length) {
      const found = await store.read(hash, 0, length);
      return found === null ? null : await new Response(found).bytes();
    },
    async remove(hash) {
      if (isBlobHash(hash)) await unlink(pathOf(hash)).catch(missingAsNull);
    },
  };
  return store;
}

async function ignore(): Promise<void> {}

async function keep(
  temporary: string,
  pathOf: (hash: string) => string,
  fill: (file: FileHandle) => Promise<BlobInfo>,
): Promise<BlobInfo> {
  const file = await orDiskFailure(open(temporary, "wx", 0o600));
  try {
    const info = await fill(file);
    await orDiskFailure(file.sync());
    const path = pathOf(info.hash);
    await orDiskFailure(makeDirectory(dirname(path)));
    await orDiskFailure(rename(temporary, path));
    await orDiskFailure(syncDirectory(dirname(path)));
    return info;
  } catch (thrown) {
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  } finally {
    await file.close().catch(() => undefined);
  }
}

async function append(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.length) done += (await orDiskFailure(file.write(bytes, done, bytes.length - done))).bytesWritten;
}

/** Not its parents: if a volume was unmounted, nothing is created in its place. */
async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((thrown: unknown) => {
    if (!hasCode(thrown, /^EEXIST$/)) throw thrown;
  });
}

/** Otherwise a power cut could undo the rename. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Opens the file on first read, so that an unread stream holds nothing. */
function pieces(path: string, start: number, end: number): ReadableStream<Uint8Array> {
  let file: FileHandle | null = null;
  let at = start;
  const close = async (): Promise<void> => {
    const opened = file;
    file = null;
    await opened?.close();
  };
  const next = async (): Promise<Uint8Array | null> => {
    if (at >= end) return null;
    file ??= await open(path, "r");
    const piece = new Uint8Array(Math.min(bounds.spoolPieceBytes, end - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error("a blob is shorter than it was");
    at += bytesRead;
    if (at >= end) await close();
    return piece.subarray(0, bytesRead);
  };
  const closing = async (thrown: unknown): Promise<never> => {
    await close();
    throw thrown;
  };
  return pulledStream(() => next().catch(closing), close);
}

/** Other processes may be writing into the directory, so only old files are removed. */
function removeLeftovers(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    unlessMissing(() => statSync(path).mtimeMs < now - blobLeftoverMs && unlinkSync(path));
  }
}

async function orDiskFailure<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (thrown) {
    if (isFullDisk(thrown)) throw storageUnavailable(thrown);
    throw new Failure("internal_error", "The gateway cannot write to its disk.", { cause: thrown });
  }
}
