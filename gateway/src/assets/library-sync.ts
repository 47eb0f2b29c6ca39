import { type Asset, bounds } from "#core/index.ts";
import type { LibraryAsset } from "#providers/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { goneError, type LibraryAccount, libraryAccount } from "./library-account.ts";

/** Longest poll interval, and the age at which processing is given up. */
const assetPollMsMax = 15_000;
export const assetProcessingMs = 86_400_000;
/** Age up to which a caller gets the last polled state. */
export const assetFreshMs = 2_000;

/** Copies the state of assets from upstream libraries. */
export class LibrarySync {
  readonly #dependencies: AssetsDependencies;
  readonly #signal: AbortSignal;
  /** The last poll of each processing asset in this process, shared by concurrent callers. */
  readonly #polls = new Map<string, { readonly at: number; readonly done: Promise<Asset> }>();

  constructor(dependencies: AssetsDependencies, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  /** The current or recent state. A failed poll changes nothing. */
  refresh(asset: Asset): Promise<Asset> {
    if (asset.status !== "Processing" || asset.platform === "local") return Promise.resolve(asset);
    const now = this.#dependencies.clock.now();
    const last = this.#polls.get(asset.id);
    if (last !== undefined && now - last.at < assetFreshMs) return last.done;
    return this.poll(asset);
  }

  poll(asset: Asset): Promise<Asset> {
    const done = this.#poll(asset).then((seen) => {
      if (seen.status !== "Processing") this.#polls.delete(asset.id);
      return seen;
    });
    this.#polls.delete(asset.id);
    this.#forgetOld();
    this.#polls.set(asset.id, { at: this.#dependencies.clock.now(), done });
    return done;
  }

  async #poll(asset: Asset): Promise<Asset> {
    const { clock, store, observer } = this.#dependencies;
    let result: Pick<LibraryAsset, "status" | "error"> | null = null;
    let failed = false;
    try {
      result = await this.#ask(asset);
    } catch (thrown) {
      failed = true;
      observer.log("debug", "failed to poll an asset library", { asset: asset.id, error: thrown });
    }
    const now = clock.now();
    const ageMs = Math.max(0, now - asset.createdAt);
    if ((result === null || result.status === "Processing") && ageMs >= assetProcessingMs) {
      result = {
        status: "Failed",
        error: { code: "processing_timeout", message: "The asset library did not finish processing it." },
      };
    }
    if (result === null || result.status === "Processing") {
      await store.updateAsset(asset.id, { dueAt: now + this.#waitMs(ageMs, failed) }, { dueAt: asset.dueAt });
      return asset;
    }
    const change = { status: result.status, error: result.error, updatedAt: now, dueAt: null };
    await store.updateAsset(asset.id, change, { status: "Processing" });
    return { ...asset, ...change };
  }

  async #ask(asset: Asset): Promise<Pick<LibraryAsset, "status" | "error"> | null> {
    const account = this.holderOf(asset);
    if (account === null || asset.upstreamId === null) return null;
    const group = await this.#dependencies.store.findGroup(asset.workspaceId, asset.groupId);
    if (group === null) return null;
    return (
      (await account.poll(asset.upstreamId, group.projectName, this.#signal)) ?? { status: "Failed", error: goneError }
    );
  }

  /** The account that holds a group or asset, even if it is disabled. */
  holderOf(held: Pick<Asset, "providerId" | "platform">): LibraryAccount | null {
    const account = this.accountOf(held.providerId);
    return account?.platform === held.platform ? account : null;
  }

  accountOf(providerId: string | null): LibraryAccount | null {
    const provider = providerId === null ? undefined : this.#dependencies.configSnapshot().providers.get(providerId);
    return provider === undefined ? null : libraryAccount(provider, this.#dependencies);
  }

  /** Libraries usually take seconds, so polls start close together. */
  #waitMs(ageMs: number, failed: boolean): number {
    const least = failed ? assetPollMsMax : bounds.assetPollMs;
    const waitMs = Math.min(assetPollMsMax, Math.max(least, ageMs / 2));
    return Math.round(waitMs * (0.75 + this.#dependencies.chance.unit() / 2));
  }

  #forgetOld(): void {
    const before = this.#dependencies.clock.now() - assetFreshMs;
    for (const [id, poll] of this.#polls) {
      if (poll.at >= before) break;
      this.#polls.delete(id);
    }
  }
}
