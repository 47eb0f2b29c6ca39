import {
  bounds,
  type ConfigSnapshot,
  Failure,
  type StoredFile,
  type StoredFileStatus,
  sleep,
  throwIfGone,
} from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import type { FilesDependencies } from "./dependencies.ts";
import type { UsedExcept } from "./file-store.ts";

/** The key that creates a file. */
export interface FileOwner {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly personId: string | null;
}

export interface NewFile extends Pick<StoredFile, "purpose" | "filename" | "mediaType" | "expiresAt"> {
  /** null: unknown until it has arrived. Then it may be as large as the room that its workspace has left, else bounds.fileBytesMax. */
  readonly sizeBytes: number | null;
}

/** What the file becomes once it is complete. */
interface Role {
  readonly status: Extract<StoredFileStatus, "ready" | "part">;
  readonly uploadId: string | null;
  /** For a part: when it is not needed any more. */
  readonly dueAt?: number;
  /** The upload that it replaces. Its parts do not count against the quota. */
  readonly replaces?: string;
}

/**
 * Stores arriving files. The row is written first, and gets the hash before the blob exists, so that the worker finds every blob of a
 * process that died. Equal bytes are stored once: a removal marks its file, then checks whether another file needs the bytes; a creation names the
 * bytes, then waits for removals. The second one sees the first, in any process.
 */
export class ArrivingFiles {
  readonly #dependencies: FilesDependencies;
  /** Running uploads by workspace. */
  readonly #running = new Map<string, number>();
  readonly #counts: { stored: number; storedBytes: number };
  /** Called if a file has to be removed. */
  readonly #wake: () => void;

  constructor(dependencies: FilesDependencies, counts: { stored: number; storedBytes: number }, wake: () => void) {
    this.#dependencies = dependencies;
    this.#counts = counts;
    this.#wake = wake;
  }

  async store(
    { workspaceId, keyId, personId }: FileOwner,
    { sizeBytes, ...facts }: NewFile,
    role: Role,
    bytes: ReadableStream<Uint8Array>,
    signal: AbortSignal,
  ): Promise<StoredFile> {
    const { store, blobs, clock, ids } = this.#dependencies;
    const leave = this.#enter(workspaceId);
    const now = clock.now();
    const file: StoredFile = {
      ...{ id: ids.next("").toLowerCase(), workspaceId, keyId, personId, ...facts },
      ...{ sizeBytes: sizeBytes ?? 0, sha256: null, status: "arriving", uploadId: role.uploadId },
      ...{ createdAt: now, dueAt: now + bounds.fileArrivalMs, tries: 0 },
    };
    try {
      const room = await this.requireRoom(workspaceId, file.sizeBytes, { upload: role.replaces });
      throwIfGone(signal);
      await store.create(file);
      const naming = (blob: BlobInfo) => this.#name(file, blob, role.replaces, signal);
      const info = await (sizeBytes === null
        ? blobs.put(bytes, room, signal, naming).catch((thrown: unknown) => {
            throw isTooLarge(thrown) ? this.#noRoom() : thrown;
          })
        : blobs.put(bytes, bounds.fileBytesMax, signal, naming));
      const stored = { ...file, sizeBytes: info.size, sha256: info.hash, status: role.status };
      const dueAt = role.dueAt ?? facts.expiresAt;
      if (await store.update(file.id, { status: role.status, dueAt }, { status: ["arriving"] })) {
        this.#counts.stored++;
        this.#counts.storedBytes += info.size;
        return { ...stored, dueAt };
      }
      // Its row was removed while the bytes were stored, so a new row has them removed.
      await store.create({ ...stored, id: ids.next("").toLowerCase(), status: "removing", dueAt: now });
      this.#wake();
      throw removedMeanwhile();
    } catch (thrown) {
      // The worker removes what is there.
      const over = { status: "removing", dueAt: clock.now() } as const;
      if (await store.update(file.id, over, { status: ["arriving"] }).catch(() => false)) this.#wake();
      throw thrown;
    } finally {
      leave();
    }
  }

  /** The bytes that the workspace may still store. Throws Failure file_quota_exceeded if these are more. */
  async requireRoom(workspaceId: string, bytes: number, except: UsedExcept = {}): Promise<number> {
    const { store, configSnapshot } = this.#dependencies;
    const room = fileQuotaBytes(configSnapshot()) - (await store.usedBytes(workspaceId, except));
    if (bytes <= room) return room;
    throw this.#noRoom();
  }

  #noRoom(): Failure {
    const gigabytes = this.#dependencies.configSnapshot().settings["files.workspace_gigabytes"];
    return new Failure(
      "file_quota_exceeded",
      `The files of a workspace may have ${gigabytes} GB in all. Delete files that are not needed.`,
      { details: { details: { error_code: "storage_quota_exceeded" } } },
    );
  }

  /** Writes the hash and the size of an arriving file, before its blob is stored. */
  async #name(
    file: StoredFile,
    { hash, size }: BlobInfo,
    upload: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, clock } = this.#dependencies;
    if (size === 0) throw new Failure("invalid_request", "The file is empty.", { param: "file" });
    await this.requireRoom(file.workspaceId, size, { id: file.id, upload });
    const named = await store.update(file.id, { sha256: hash, sizeBytes: size }, { status: ["arriving"] });
    if (!named) throw removedMeanwhile();
    const endMs = clock.monotonic() + bounds.fileRemovalWaitMs;
    while (await store.removes(hash)) {
      if (clock.monotonic() >= endMs) {
        const why = "The same bytes are being deleted. Try again.";
        throw new Failure("storage_unavailable", why, { retryAfterMs: bounds.storageRetryAfterMs });
      }
      await sleep(clock, bounds.fileRemovalPollMs, signal);
      throwIfGone(signal);
    }
  }

  #enter(workspaceId: string): () => void {
    const running = this.#running.get(workspaceId) ?? 0;
    if (running >= bounds.fileUploadsAtOnceMax) {
      throw new Failure(
        "rate_limit_exceeded",
        `A workspace may upload ${bounds.fileUploadsAtOnceMax} files at once. Try again later.`,
        { retryAfterMs: bounds.storageRetryAfterMs },
      );
    }
    this.#running.set(workspaceId, running + 1);
    return () => {
      const left = (this.#running.get(workspaceId) ?? 1) - 1;
      if (left === 0) this.#running.delete(workspaceId);
      else this.#running.set(workspaceId, left);
    };
  }
}

/** Of each workspace. */
export function fileQuotaBytes({ settings }: ConfigSnapshot): number {
  return settings["files.workspace_gigabytes"] * 1e9;
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "request_too_large";
}

function removedMeanwhile(): Failure {
  return new Failure("storage_unavailable", "The file took too long to store. Try again.", {
    retryAfterMs: bounds.storageRetryAfterMs,
  });
}
