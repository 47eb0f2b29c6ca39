import { type Asset, type AssetGroup, bounds, Failure } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import type { BlobOwner } from "./asset-store.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { BlobView, isRefusal, measureProblem, type Refusal, refusedForNow } from "./measure.ts";
import { assetBytesMax, type MediaType } from "./media-type.ts";
import { takeIn } from "./take-in.ts";

/** Waits after a fetch that failed by its host's fault. An asset older than the last value is given up. */
const assetRetryMs = 2_000;
export const assetRetryMsMax = 30_000;
const assetGiveUpMs = 60_000;

/** An asset of a group. Default: processing, without a source, bytes or an upstream. `now` is Unix milliseconds. */
export function newAsset(
  { id: groupId, workspaceId, platform }: AssetGroup,
  id: string,
  now: number,
  facts: Pick<Asset, "name" | "type" | "dueAt"> & Partial<Asset>,
): Asset {
  const origin = { sourceUrl: "", providerId: null, upstreamId: null };
  const bytes = { blobHash: null, sizeBytes: null, contentType: null };
  const common = { id, workspaceId, groupId, platform, createdAt: now, updatedAt: now };
  return { ...common, ...origin, ...bytes, status: "Processing", error: null, ...facts };
}

/** A file that has arrived whole. */
export interface UploadedFile {
  /** By its first bytes. */
  readonly media: MediaType;
  readonly read: () => ReadableStream<Uint8Array>;
}

/**
 * Assets of our own platform and their bytes. Bytes are kept once for all who have them, so whoever lets go of them asks whether
 * he was the last, and whoever got them makes sure that they are still there once his row says so. Both take turns, hash by hash.
 */
export class LocalAssets {
  readonly #dependencies: AssetsDependencies;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(dependencies: AssetsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Removes the bytes unless somebody uses them. `but` lets go of them next: what was deleted is asked for no more, so that nobody
   * would come back for bytes that could not be removed behind it.
   */
  drop(hash: string, but: BlobOwner = {}): Promise<void> {
    const { store, blobs } = this.#dependencies;
    return this.#inTurn(hash, async () => {
      if ((await store.blobUses(hash, but)) === 0) await blobs.remove(hash);
    });
  }

  /**
   * Keeps a file as an asset, which is Active at once. Throws Failure invalid_request where its measures are not those that
   * material may have, storage_unavailable; then nothing is kept.
   */
  async upload(group: AssetGroup, name: string, { media, read }: UploadedFile, signal: AbortSignal): Promise<Asset> {
    const { blobs, clock, ids, store } = this.#dependencies;
    const { type, contentType } = media;
    const blob = await blobs.put(read(), assetBytesMax[type], signal);
    const problem = await measureProblem(new BlobView(blobs, blob), media);
    if (problem !== null) {
      await this.drop(blob.hash);
      throw new Failure("invalid_request", problem.message, { param: "file" });
    }
    const now = clock.now();
    const bytes = { blobHash: blob.hash, sizeBytes: blob.size, contentType };
    const asset = newAsset(group, ids.next("as_"), now, { name, type, status: "Active", dueAt: null, ...bytes });
    if (await this.#keep(blob.hash, () => store.createAsset(asset))) return asset;
    throw new Failure("storage_unavailable", "The file could not be kept; try again.", {
      retryAfterMs: bounds.storageRetryAfterMs,
    });
  }

  /**
   * One pass over an asset that is fetched. The due time that the lease wrote is the pass's token: when the row no longer has
   * it, somebody else is at work or the asset was deleted, and what this pass brought is let go of.
   */
  async work(leased: Asset, leaseUntil: number, signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#dependencies;
    const result = await takeIn(leased, this.#dependencies, (hash) => this.drop(hash), signal);
    const now = clock.now();
    const row = await store.findAsset(leased.workspaceId, leased.id);
    if (row === null || row.status !== "Processing" || row.dueAt !== leaseUntil) {
      if (!isRefusal(result)) await this.drop(result.blob.hash);
      return;
    }
    if (!isRefusal(result)) return this.#activate(row, result.blob, result.contentType);
    // A pass that was stopped has found out nothing: the next process begins again, at once.
    if (signal.aborted) await store.updateAsset(row.id, { dueAt: now }, { dueAt: leaseUntil });
    else await this.#refuse(row, result);
  }

  async #activate(row: Asset, { hash, size }: BlobInfo, contentType: string): Promise<void> {
    const { clock, store } = this.#dependencies;
    const bytes = { blobHash: hash, sizeBytes: size, contentType };
    const change = { status: "Active", error: null, ...bytes, updatedAt: clock.now(), dueAt: null } as const;
    let held = true;
    const kept = await this.#keep(hash, async () => {
      held = await store.updateAsset(row.id, change, { dueAt: row.dueAt });
    });
    if (!held) await this.drop(hash);
    else if (!kept) await this.#refuse(row, refusedForNow("storage_failed", "The bytes could not be kept."));
  }

  /** Tries are not counted but measured by the asset's age, so that a restart neither forgets nor repeats them. */
  async #refuse(row: Asset, { code, message, again }: Refusal): Promise<void> {
    const { clock, store, chance } = this.#dependencies;
    const now = clock.now();
    const ageMs = Math.max(0, now - row.createdAt);
    if (again && ageMs < assetGiveUpMs) {
      const waitMs = Math.min(assetRetryMsMax, Math.max(assetRetryMs, ageMs));
      const dueAt = now + Math.round(waitMs * (0.75 + chance.unit() / 2));
      await store.updateAsset(row.id, { dueAt }, { dueAt: row.dueAt });
      return;
    }
    const change = { status: "Failed", error: { code, message }, updatedAt: now, dueAt: null } as const;
    await store.updateAsset(row.id, change, { dueAt: row.dueAt });
  }

  /** Writes the row that uses the bytes. False: somebody has removed them in the meantime, and nothing was written. */
  #keep(hash: string, write: () => Promise<void>): Promise<boolean> {
    return this.#inTurn(hash, async () => {
      if ((await this.#dependencies.blobs.stat(hash)) === null) return false;
      await write();
      return true;
    });
  }

  async #inTurn<T>(hash: string, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(hash) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#turns.set(hash, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(hash) === turn) this.#turns.delete(hash);
    }
  }
}
