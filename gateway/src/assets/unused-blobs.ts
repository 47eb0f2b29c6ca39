import type { BlobStore } from "#ports/index.ts";
import type { AssetStore, BlobOwner } from "./asset-store.ts";

/**
 * Bytes are kept once for all who have them, so whoever lets go of them asks whether he was the last, and whoever got
 * them makes sure that they are still there once his row says so. Both take turns, hash by hash.
 */
export class UnusedBlobs {
  readonly #store: AssetStore;
  readonly #blobs: BlobStore;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(dependencies: { readonly store: AssetStore; readonly blobs: BlobStore }) {
    this.#store = dependencies.store;
    this.#blobs = dependencies.blobs;
  }

  /**
   * Removes the bytes unless somebody uses them. `but` lets go of them next: what was deleted is asked for no more, so that nobody
   * would come back for bytes that could not be removed behind it.
   */
  drop(hash: string, but: BlobOwner = {}): Promise<void> {
    return this.#inTurn(hash, async () => {
      if ((await this.#store.blobUses(hash, but)) === 0) await this.#blobs.remove(hash);
    });
  }

  /** Writes the row that uses the bytes. False: somebody has removed them in the meantime, and nothing was written. */
  keep(hash: string, write: () => Promise<void>): Promise<boolean> {
    return this.#inTurn(hash, async () => {
      if ((await this.#blobs.stat(hash)) === null) return false;
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
