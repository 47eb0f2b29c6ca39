import { type Asset, bounds } from "#core/index.ts";
import type { LibraryAsset } from "#providers/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { goneError, type LibraryAccount, libraryAccount } from "./library-account.ts";

/** The longest wait between polls of an asset that a library is processing, and when that has taken too long. */
const assetPollMsMax = 15_000;
export const assetProcessingMs = 86_400_000;
/** The age up to which a caller is shown what the library answered last. */
export const assetFreshMs = 2_000;

/** Keeps the rows of assets that an upstream's library is processing like what the library says. */
export class Mirror {
  readonly #dependencies: AssetsDependencies;
  readonly #signal: AbortSignal;
  /** The last look at each asset that is still processing, by this process; who asks meanwhile shares it. */
  readonly #polls = new Map<string, { readonly at: number; readonly done: Promise<Asset> }>();

  constructor(dependencies: AssetsDependencies, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  /** The asset as the library shows it now, or as it was a moment ago. A library that cannot be asked changes nothing. */
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
    let seen: Pick<LibraryAsset, "status" | "error"> | null = null;
    let failed = false;
    try {
      seen = await this.#ask(asset);
    } catch (thrown) {
      failed = true;
      observer.log("debug", "An asset library could not be asked.", { asset: asset.id, error: thrown });
    }
    const now = clock.now();
    const ageMs = Math.max(0, now - asset.createdAt);
    if ((seen === null || seen.status === "Processing") && ageMs >= assetProcessingMs) {
      seen = {
        status: "Failed",
        error: { code: "processing_timeout", message: "The asset library did not finish it." },
      };
    }
    if (seen === null || seen.status === "Processing") {
      await store.updateAsset(asset.id, { dueAt: now + this.#waitMs(ageMs, failed) }, { dueAt: asset.dueAt });
      return asset;
    }
    const change = { status: seen.status, error: seen.error, updatedAt: now, dueAt: null };
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

  /** The account that holds a group or an asset as it is set up now, enabled or not: what it holds is still there. */
  holderOf(held: Pick<Asset, "providerId" | "platform">): LibraryAccount | null {
    const account = this.accountOf(held.providerId);
    return account?.platform === held.platform ? account : null;
  }

  accountOf(providerId: string | null): LibraryAccount | null {
    const provider = providerId === null ? undefined : this.#dependencies.configSnapshot().providers.get(providerId);
    return provider === undefined ? null : libraryAccount(provider, this.#dependencies);
  }

  /** Libraries take seconds mostly, so the looks are close at first and then spread. */
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
