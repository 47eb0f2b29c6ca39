import { bounds, type StoredFile } from "#core/index.ts";
import type { FilesDependencies } from "./dependencies.ts";
import type { FileCopies } from "./file-copies.ts";

/**
 * Works on a due file: an expired one loses its bytes, and its row later; any other is removed. `leaseUntil` is the due
 * time of the row under the lease: if the row has another one, a newer pass or a deletion won.
 */
export function fileRemoval(dependencies: FilesDependencies, copies: Pick<FileCopies, "delete">) {
  const { store, blobs, clock } = dependencies;

  /** Only after its file is marked, see `ArrivingFiles`. */
  async function removeBytes({ sha256 }: StoredFile): Promise<void> {
    if (sha256 !== null && !(await store.needs(sha256))) await blobs.remove(sha256);
  }

  /** False: some could not be deleted. */
  async function removeCopies({ id }: StoredFile, signal: AbortSignal): Promise<boolean> {
    let isDone = true;
    for (const copy of await store.copies(id)) isDone = (await copies.delete(copy, signal)) && isDone;
    return isDone;
  }

  async function expire(file: StoredFile, leaseUntil: number, signal: AbortSignal): Promise<void> {
    const marked = await store.update(
      file.id,
      { status: "expiring" },
      { status: ["ready", "expiring"], dueAt: leaseUntil },
    );
    if (!marked) return;
    await removeBytes(file);
    // Copies that cannot be deleted now are deleted with the row.
    await removeCopies(file, signal);
    const change = { status: "expired", sha256: null, dueAt: clock.now() + bounds.fileExpiredRowMs } as const;
    await store.update(file.id, change, { status: ["expiring"], dueAt: leaseUntil });
  }

  async function remove(file: StoredFile, leaseUntil: number, signal: AbortSignal): Promise<void> {
    const { status, tries } = file;
    if (!(await store.update(file.id, { status: "removing" }, { status: [status], dueAt: leaseUntil }))) return;
    await removeBytes(file);
    if ((await removeCopies(file, signal)) || tries >= bounds.fileCopyTriesMax) {
      await store.remove(file.id, "removing");
      return;
    }
    const dueAt = clock.now() + bounds.fileCopyRetryMs * 2 ** tries;
    await store.update(file.id, { sha256: null, tries: tries + 1, dueAt }, { status: ["removing"], dueAt: leaseUntil });
  }

  return async (file: StoredFile, leaseUntil: number, signal: AbortSignal): Promise<void> => {
    if (file.status === "ready" || file.status === "expiring") await expire(file, leaseUntil, signal);
    else await remove(file, leaseUntil, signal);
    await store.removeUploads(clock.now() - bounds.fileExpiredRowMs);
  };
}
