import { bounds, DueWorker, Failure, type StoredFile, sleep, throwIfGone } from "#core/index.ts";
import { ArrivingFiles, type FileOwner, fileQuotaBytes, type NewFile } from "./arriving-files.ts";
import type { FilesDependencies } from "./dependencies.ts";
import { FileCopies } from "./file-copies.ts";
import type { FileFilter, FilePage } from "./file-store.ts";
import { fileRemoval } from "./removals.ts";
import { Uploads } from "./uploads.ts";

/** Bounds of the worker, as `DueWorkerOptions` names them. */
export const fileLeaseMs = 300_000;
const filesAtOnceMax = 4;
const fileTickMs = 2_000;
const fileRestMs = 15_000;

/** Files of all workspaces. A file of another workspace looks missing. */
export class Files {
  readonly uploads: Uploads;
  readonly copies: FileCopies;
  /** Since the start of the process. */
  readonly counts = { stored: 0, storedBytes: 0, copied: 0, copyFailures: 0 };
  readonly #dependencies: FilesDependencies;
  readonly #arriving: ArrivingFiles;
  readonly #worker: DueWorker<StoredFile>;

  constructor(dependencies: FilesDependencies) {
    this.#dependencies = dependencies;
    const { store, clock, observer } = dependencies;
    const wake = (): void => this.#worker.wake();
    this.#arriving = new ArrivingFiles(dependencies, this.counts, wake);
    this.uploads = new Uploads(dependencies, this.#arriving, wake);
    this.copies = new FileCopies(dependencies, (file) => this.open(file), this.counts);
    const removal = fileRemoval(dependencies, this.copies);
    this.#worker = new DueWorker({
      rows: { next: () => store.nextDue(), lease: (...due) => store.leaseDue(...due) },
      ...{ leaseMs: fileLeaseMs, atOnceMax: filesAtOnceMax, tickMs: fileTickMs, restMs: fileRestMs },
      ...{ noun: "file", work: removal, clock, observer },
    });
  }

  /** Removes what is deleted or expired, also for an earlier process. */
  start(): void {
    this.#worker.start();
  }

  async stop(): Promise<void> {
    this.copies.stop();
    await this.#worker.stop();
  }

  /**
   * Stores a file. Throws Failure request_too_large, rate_limit_exceeded for too many at once, file_quota_exceeded,
   * storage_unavailable; nothing is kept then.
   */
  create(owner: FileOwner, file: NewFile, bytes: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<StoredFile> {
    return this.#arriving.store(owner, file, { status: "ready", uploadId: null }, bytes, signal);
  }

  /** `id` as in `StoredFile`, or null. Throws Failure not_found, and file_expired. */
  async get(workspaceId: string, id: string | null): Promise<StoredFile> {
    const file = id === null ? undefined : await this.find(workspaceId, [id]).then(([found]) => found);
    if (file === undefined) throw missingFile();
    if (file.status !== "ready") throw expiredFile();
    return file;
  }

  /** Files of the workspace, also expired ones: their status is not `ready`. */
  async find(workspaceId: string, ids: readonly string[]): Promise<readonly StoredFile[]> {
    const now = this.#dependencies.clock.now();
    const found = await this.#dependencies.store.find(workspaceId, ids);
    return found.map((file) => (hasExpired(file, now) ? { ...file, status: "expiring" } : file));
  }

  /** Usable files. */
  async list(filter: FileFilter, page: FilePage) {
    const now = this.#dependencies.clock.now();
    const { files, more } = await this.#dependencies.store.page(filter, page);
    return { files: files.filter((file) => !hasExpired(file, now)), next: more ? (files.at(-1)?.id ?? null) : null };
  }

  totals(filter: FileFilter) {
    return this.#dependencies.store.totals(filter);
  }

  /** Bytes that the workspace uses, and may use. */
  async quota(workspaceId: string): Promise<{ readonly usedBytes: number; readonly quotaBytes: number }> {
    const { store, configSnapshot } = this.#dependencies;
    return { usedBytes: await store.usedBytes(workspaceId), quotaBytes: fileQuotaBytes(configSnapshot()) };
  }

  /** From `start` to `end` (exclusive), at the reader's speed. Throws Failure not_found if it was deleted meanwhile. */
  async open(file: StoredFile, start = 0, end = file.sizeBytes): Promise<ReadableStream<Uint8Array>> {
    const stream = file.sha256 === null ? null : await this.#dependencies.blobs.read(file.sha256, start, end);
    if (stream === null) throw missingFile();
    return stream;
  }

  /** It is missing at once; its bytes and copies are removed later. Throws Failure not_found. */
  async delete(workspaceId: string, id: string | null): Promise<StoredFile> {
    const { store, clock } = this.#dependencies;
    const file = id === null ? undefined : (await store.find(workspaceId, [id]))[0];
    if (file === undefined) throw missingFile();
    const change = { status: "removing", dueAt: clock.now(), tries: 0 } as const;
    // While an expired file's bytes are being removed, its worker ends first.
    if (file.status === "expiring") await this.#untilExpired(file);
    if (!(await store.update(file.id, change, { status: ["ready", "expired"] }))) throw missingFile();
    this.#worker.wake();
    return file;
  }

  async #untilExpired({ workspaceId, id }: StoredFile): Promise<void> {
    const { store, clock } = this.#dependencies;
    const signal = new AbortController().signal;
    const endMs = clock.monotonic() + bounds.fileRemovalWaitMs;
    while ((await store.find(workspaceId, [id]))[0]?.status === "expiring" && clock.monotonic() < endMs) {
      await sleep(clock, bounds.fileRemovalPollMs, signal);
      throwIfGone(signal);
    }
  }
}

/** The worker may be late. */
function hasExpired({ status, expiresAt }: StoredFile, now: number): boolean {
  return status === "ready" && expiresAt !== null && expiresAt <= now;
}

/** The same text for every file that the workspace does not have. */
function missingFile(): Failure {
  return new Failure("not_found", "There is no file with this id.", { param: "id" });
}

export function expiredFile(): Failure {
  return new Failure("file_expired", "The file has expired.", {
    param: "id",
    details: { details: { error_code: "file_expired" } },
  });
}
