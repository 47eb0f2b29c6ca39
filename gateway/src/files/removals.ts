import { bounds, type StoredFile } from "#core/index.ts";
import type { FilesDependencies } from "./dependencies.ts";

/**
 * Works on a due file: an expired one loses its bytes, and its row later; any other is removed. `leaseUntil` is the due
 * time of the row under the lease: if the row has another one, a newer pass or a deletion won.
 */
export function fileRemoval(dependencies: FilesDependencies) {
  const { store, blobs, clock } = dependencies;

  /** Only after its file is marked, see `ArrivingFiles`. */
  async function removeBytes({ sha256 }: StoredFile): Promise<void> {
    if (sha256 !== null && !(await store.needs(sha256))) await blobs.remove(sha256);
  }

  async function expire(file: StoredFile, leaseUntil: number): Promise<void> {
    const marked = await store.update(
      file.id,
      { status: "expiring" },
      { status: ["ready", "expiring"], dueAt: leaseUntil },
    );
    if (!marked) return;
    await removeBytes(file);
    const change = { status: "expired", sha256: null, dueAt: clock.now() + bounds.fileExpiredRowMs } as const;
    await store.update(file.id, change, { status: ["expiring"], dueAt: leaseUntil });
  }

  async function remove(file: StoredFile, leaseUntil: number): Promise<void> {
    const { status } = file;
    if (!(await store.update(file.id, { status: "removing" }, { status: [status], dueAt: leaseUntil }))) return;
    await removeBytes(file);
    await store.remove(file.id, "removing");
  }

  return async (file: StoredFile, leaseUntil: number): Promise<void> => {
    if (file.status === "ready" || file.status === "expiring") await expire(file, leaseUntil);
    else await remove(file, leaseUntil);
    await store.removeUploads(clock.now() - bounds.fileExpiredRowMs);
  };
}
