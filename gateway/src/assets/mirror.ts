import { type Asset, bounds } from "#core/index.ts";
import type { LibraryAsset } from "#providers/index.ts";
import type { AssetsHouse } from "./house.ts";
import { goneError, type LibraryAccount, libraryAccount } from "./library-account.ts";

interface Look {
  readonly at: number;
  readonly done: Promise<Asset>;
}

/** Keeps the rows of assets that an upstream's library is processing like what the library says. */
export class Mirror {
  readonly #house: AssetsHouse;
  /** The last look at each asset that is still processing, by this process; who asks meanwhile shares it. */
  readonly #looks = new Map<string, Look>();

  constructor(house: AssetsHouse) {
    this.#house = house;
  }

  /** The asset as the library shows it now, or as it was a moment ago. A library that cannot be asked changes nothing. */
  refresh(asset: Asset, signal: AbortSignal): Promise<Asset> {
    if (asset.status !== "Processing" || asset.platform === "local") return Promise.resolve(asset);
    const now = this.#house.clock.now();
    const last = this.#looks.get(asset.id);
    if (last !== undefined && now - last.at < bounds.assetFreshMs) return last.done;
    return this.look(asset, signal);
  }

  look(asset: Asset, signal: AbortSignal): Promise<Asset> {
    const done = this.#look(asset, signal).then((seen) => {
      if (seen.status !== "Processing") this.#looks.delete(asset.id);
      return seen;
    });
    this.#looks.delete(asset.id);
    this.#forgetOld();
    this.#looks.set(asset.id, { at: this.#house.clock.now(), done });
    return done;
  }

  async #look(asset: Asset, signal: AbortSignal): Promise<Asset> {
    const { clock, store, observer } = this.#house;
    let seen: Pick<LibraryAsset, "status" | "error"> | null = null;
    let failed = false;
    try {
      seen = await this.#ask(asset, signal);
    } catch (thrown) {
      failed = true;
      observer.log("debug", "An asset library could not be asked.", { asset: asset.id, error: thrown });
    }
    const now = clock.now();
    const ageMs = Math.max(0, now - asset.createdAt);
    if ((seen === null || seen.status === "Processing") && ageMs >= bounds.assetProcessingMs) {
      seen = {
        status: "Failed",
        error: { code: "processing_timeout", message: "The asset library did not finish it." },
      };
    }
    if (seen === null || seen.status === "Processing") {
      await store.updateAsset(asset.id, { dueAt: now + this.#waitMs(ageMs, failed) });
      return asset;
    }
    const change = { status: seen.status, error: seen.error, updatedAt: now, dueAt: null };
    await store.updateAsset(asset.id, change);
    return { ...asset, ...change };
  }

  async #ask(asset: Asset, signal: AbortSignal): Promise<Pick<LibraryAsset, "status" | "error"> | null> {
    const account = this.holderOf(asset);
    if (account === null || asset.upstreamId === null) return null;
    const group = await this.#house.store.findGroup(asset.workspaceId, asset.groupId);
    if (group === null) return null;
    return (await account.look(asset.upstreamId, group.projectName, signal)) ?? { status: "Failed", error: goneError };
  }

  /** The account that holds a group or an asset as it is set up now, enabled or not: what it holds is still there. */
  holderOf(held: Pick<Asset, "providerId" | "platform">): LibraryAccount | null {
    const account = this.accountOf(held.providerId);
    return account?.platform === held.platform ? account : null;
  }

  accountOf(providerId: string | null): LibraryAccount | null {
    const provider = providerId === null ? undefined : this.#house.catalog().providers.get(providerId);
    return provider === undefined ? null : libraryAccount(provider, this.#house);
  }

  /** Libraries take seconds mostly, so the looks are close at first and then spread. */
  #waitMs(ageMs: number, failed: boolean): number {
    const least = failed ? bounds.assetLookMsMax : bounds.assetLookMs;
    const waitMs = Math.min(bounds.assetLookMsMax, Math.max(least, ageMs / 2));
    return Math.round(waitMs * (0.75 + this.#house.chance.unit() / 2));
  }

  #forgetOld(): void {
    const before = this.#house.clock.now() - bounds.assetFreshMs;
    for (const [id, look] of this.#looks) {
      if (look.at >= before) break;
      this.#looks.delete(id);
    }
  }
}
