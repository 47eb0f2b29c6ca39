import { type Asset, type AssetGroup, bounds, Failure } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import type { BlobOwner } from "./asset-store.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { fetchAsset } from "./fetch-asset.ts";
import { BlobView, isRefusal, measureProblem, type Refusal, retryableRefusal } from "./measure.ts";
import { assetBytesMax, type MediaType } from "./media-type.ts";

/** Delays after a failed fetch, and the age at which an asset is given up. */
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

/** A completely uploaded file. */
export interface UploadedFile {
  /** Detected from the first bytes. */
  readonly media: MediaType;
  readonly read: () => ReadableStream<Uint8Array>;
}

/**
 * Assets of our own platform. Equal bytes are stored once: a removal checks for other users, and a creation checks that the
 * bytes still exist. Both are serialized per hash.
 */
export class LocalAssets {
  readonly #dependencies: AssetsDependencies;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(dependencies: AssetsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Removes unused bytes. Call it before the row of `but` is deleted, so that a failed removal can be retried. */
  drop(hash: string, but: BlobOwner = {}): Promise<void> {
    const { store, blobs } = this.#dependencies;
    return this.#serialized(hash, async () => {
      if ((await store.blobUses(hash, but)) === 0) await blobs.remove(hash);
    });
  }

  /**
   * Stores a file as an Active asset. Throws Failure invalid_request for unsupported dimensions or lengths,
   * storage_unavailable; nothing is kept then.
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
    if (await this.#useBytes(blob.hash, () => store.createAsset(asset))) return asset;
    throw new Failure("storage_unavailable", "The file could not be stored; try again.", {
      retryAfterMs: bounds.storageRetryAfterMs,
    });
  }

  /**
   * Fetches a leased asset. The leased due time is the token: if the row has another one, a newer pass or a deletion won,
   * and the fetched bytes are dropped.
   */
  async work(leased: Asset, leaseUntil: number, signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#dependencies;
    const result = await fetchAsset(leased, this.#dependencies, (hash) => this.drop(hash), signal);
    const now = clock.now();
    const row = await store.findAsset(leased.workspaceId, leased.id);
    if (row === null || row.status !== "Processing" || row.dueAt !== leaseUntil) {
      if (!isRefusal(result)) await this.drop(result.blob.hash);
      return;
    }
    if (!isRefusal(result)) return this.#activate(row, result.blob, result.contentType);
    // Aborted: the next process starts again at once.
    if (signal.aborted) await store.updateAsset(row.id, { dueAt: now }, { dueAt: leaseUntil });
    else await this.#refuse(row, result);
  }

  async #activate(row: Asset, { hash, size }: BlobInfo, contentType: string): Promise<void> {
    const { clock, store } = this.#dependencies;
    const bytes = { blobHash: hash, sizeBytes: size, contentType };
    const change = { status: "Active", error: null, ...bytes, updatedAt: clock.now(), dueAt: null } as const;
    let isStored = true;
    const isWritten = await this.#useBytes(hash, async () => {
      isStored = await store.updateAsset(row.id, change, { dueAt: row.dueAt });
    });
    if (!isStored) await this.drop(hash);
    else if (!isWritten) await this.#refuse(row, retryableRefusal("storage_failed", "The bytes could not be stored."));
  }

  /** Retries are limited by the asset's age, which survives restarts. */
  async #refuse(row: Asset, { code, message, retryable: again }: Refusal): Promise<void> {
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

  /** Writes a row that uses the bytes. False: the bytes were removed and nothing was written. */
  #useBytes(hash: string, write: () => Promise<void>): Promise<boolean> {
    return this.#serialized(hash, async () => {
      if ((await this.#dependencies.blobs.stat(hash)) === null) return false;
      await write();
      return true;
    });
  }

  async #serialized<T>(hash: string, act: () => Promise<T>): Promise<T> {
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
