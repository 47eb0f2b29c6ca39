import { type Asset, type AssetBinding, type AssetGroup, bounds } from "#core/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import type { LibraryAccount } from "./library-account.ts";
import type { LibrarySync } from "./library-sync.ts";
import type { LocalAssets } from "./local-assets.ts";

/**
 * Deletes assets and groups everywhere. The account with the original is asked first; if it refuses, nothing is deleted.
 * Copies in other accounts are deleted if possible. Bytes are removed before their last row, so that a failed removal can
 * be retried. False: not found.
 */
export class Deletions {
  readonly #dependencies: AssetsDependencies;
  readonly #mirror: LibrarySync;
  readonly #local: LocalAssets;
  readonly #signal: AbortSignal;

  constructor(dependencies: AssetsDependencies, mirror: LibrarySync, local: LocalAssets, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#mirror = mirror;
    this.#local = local;
    this.#signal = signal;
  }

  async asset(asset: Asset): Promise<boolean> {
    const { store } = this.#dependencies;
    const signal = this.#signal;
    const group = await store.findGroup(asset.workspaceId, asset.groupId);
    const projectName = group?.projectName ?? "default";
    const upstreamId = asset.upstreamId;
    if (upstreamId !== null) await this.#holder(asset)?.deleteAsset(upstreamId, projectName, signal);
    for (const binding of await store.bindings(asset.id)) {
      await this.#deleteCopy(binding, (account) => account.deleteAsset(binding.upstreamId, account.ownProject, signal));
    }
    if (asset.blobHash !== null) await this.#local.drop(asset.blobHash, { id: asset.id });
    return await store.deleteAsset(asset.workspaceId, asset.id);
  }

  async group(group: AssetGroup): Promise<boolean> {
    const { store } = this.#dependencies;
    const signal = this.#signal;
    const upstreamId = group.upstreamId;
    if (upstreamId !== null) await this.#holder(group)?.deleteGroup(upstreamId, group.projectName, signal);
    const hashes = new Set<string>();
    const copies = new Map<string, AssetBinding>();
    const filter = { workspaceId: group.workspaceId, groupId: group.id };
    for (let cursor: string | null = null; ; ) {
      const page = await store.assets(filter, cursor, bounds.listPageMax);
      for (const asset of page.assets) {
        if (asset.blobHash !== null) hashes.add(asset.blobHash);
        for (const binding of await store.bindings(asset.id)) {
          copies.set(`${binding.providerId} ${binding.upstreamGroupId}`, binding);
        }
      }
      cursor = page.next;
      if (cursor === null) break;
    }
    for (const binding of copies.values()) {
      await this.#deleteCopy(binding, (account) =>
        account.deleteGroup(binding.upstreamGroupId, account.ownProject, signal),
      );
    }
    for (const hash of hashes) await this.#local.drop(hash, { groupId: group.id });
    return await store.deleteGroup(group.workspaceId, group.id);
  }

  #holder(held: Pick<Asset, "id" | "providerId" | "platform">): LibraryAccount | null {
    const holder = this.#mirror.holderOf(held);
    if (holder === null) this.#logLeftover(held.id, held.providerId, "its account is no longer set up");
    return holder;
  }

  async #deleteCopy(binding: AssetBinding, act: (account: LibraryAccount) => Promise<void>): Promise<void> {
    const account = this.#mirror.accountOf(binding.providerId);
    try {
      if (account !== null) await act(account);
      else this.#logLeftover(binding.assetId, binding.providerId, "its account is no longer set up");
    } catch (thrown) {
      this.#logLeftover(binding.assetId, binding.providerId, thrown);
    }
  }

  #logLeftover(id: string, provider: string | null, error: unknown): void {
    this.#dependencies.observer.log("warn", "failed to delete an asset or group from an upstream's asset library", {
      asset: id,
      provider,
      error,
    });
  }
}
