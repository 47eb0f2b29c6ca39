import {
  type Asset,
  type AssetBinding,
  type AssetGroup,
  asFailure,
  bounds,
  Failure,
  type Provider,
  sleep,
  throwIfGone,
} from "#core/index.ts";
import { blobLink } from "./blob-links.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { type LibraryAccount, libraryAccount } from "./library-account.ts";
import type { Mirror } from "./mirror.ts";

/** An asset that is sent inside a request because nothing of ours can be fetched from outside. */
export const assetInlinedBytesMax = 10 * 1024 * 1024;
/** The life of a signed address that an upstream gets: it may queue the task for hours. */
export const blobUrlUpstreamMs = 86_400_000;

/** How long a task waits for its asset to become Active on another account. */
const assetBindMs = 30_000;
/** Assets of a group that are searched for the container it already has on an account. */
const assetSiblingsMax = 50;

/** What replaces a reference in a request. */
export interface ResolvedAsset {
  /** The reference itself, when its bytes have to be sent. The writer of the request then puts the bytes there. */
  readonly url: string;
  readonly inline: { readonly mediaType: string; readonly bytes: Uint8Array } | null;
  readonly type: "image" | "video" | "audio";
}

const mediaTypes = { Image: "image", Video: "video", Audio: "audio" } as const;

/**
 * What upstreams are given in the place of an asset. One that the account does not hold is made known to it: its group and itself
 * are created there, in the account's own project, from an address that the account can fetch, and remembered. Who asks for
 * the same thing at the same time waits for the same.
 */
export class Resolver {
  readonly #dependencies: AssetsDependencies;
  readonly #mirror: Mirror;
  readonly #signal: AbortSignal;
  readonly #bindings = new Map<string, Promise<AssetBinding>>();
  readonly #groups = new Map<string, Promise<string>>();

  constructor(dependencies: AssetsDependencies, mirror: Mirror, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#mirror = mirror;
    this.#signal = signal;
  }

  async resolve(workspaceId: string, assetId: string, account: Provider): Promise<ResolvedAsset> {
    const asset = await this.#active(workspaceId, assetId);
    return { ...(await this.#for(asset, account)), type: mediaTypes[asset.type] };
  }

  /** For an upstream that is not chosen yet: the bytes themselves where they are ours, else where they can be had. */
  async portable(workspaceId: string, assetId: string): Promise<ResolvedAsset> {
    const asset = await this.#active(workspaceId, assetId);
    const place = asset.platform === "local" ? await this.#inlined(asset) : at(await this.#publicAddress(asset));
    return { ...place, type: mediaTypes[asset.type] };
  }

  async #for(asset: Asset, account: Provider): Promise<Place> {
    if (asset.providerId === account.id && asset.upstreamId !== null) return libraryReference(asset.upstreamId);
    const library = libraryAccount(account, this.#dependencies);
    if (asset.platform === "local") return this.#localAsset(asset, library);
    if (library === null || library.platform !== asset.platform) return at(await this.#publicAddress(asset));
    const { upstreamId } = await this.#bound(asset, library, () => this.#publicAddress(asset));
    return libraryReference(upstreamId);
  }

  async holders(workspaceId: string, assetIds: readonly string[]): Promise<readonly string[] | null> {
    let common: readonly string[] | null = null;
    for (const id of new Set(assetIds)) {
      const asset = await this.#active(workspaceId, id);
      // What is in our own store can be given to every account alike.
      if (asset.platform === "local" || asset.providerId === null) continue;
      const bound = (await this.#dependencies.store.bindings(id)).filter(({ status }) => status === "Active");
      const holding: readonly string[] = [asset.providerId, ...bound.map(({ providerId }) => providerId)];
      const before: readonly string[] = common ?? holding;
      common = before.filter((providerId) => holding.includes(providerId));
    }
    return common === null || common.length === 0 ? null : common;
  }

  async #active(workspaceId: string, assetId: string): Promise<Asset> {
    const found = await this.#dependencies.store.findAsset(workspaceId, assetId);
    if (found === null) throw new Failure("asset_not_found", `There is no asset ${assetId}.`);
    const asset = await this.#mirror.refresh(found);
    if (asset.status === "Active") return asset;
    const why = asset.error === null ? "" : ` (${asset.error.code}: ${asset.error.message})`;
    throw new Failure(
      "invalid_request",
      `The asset ${assetId} is ${asset.status}${why}; only Active assets can be referred to.`,
    );
  }

  /**
   * A library takes only what it can fetch from outside. Where it does not want the asset for a reason of the account's
   * (a plan without the library, a library that is down), the upstream itself may still take it by its address.
   */
  async #localAsset(asset: Asset, library: LibraryAccount | null): Promise<Place> {
    const link = this.#link(asset);
    if (link === null) return await this.#inlined(asset);
    if (library === null) return at(link);
    try {
      return libraryReference((await this.#bound(asset, library, async () => link)).upstreamId);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "invalid_request" || failure.code === "client_closed") throw failure;
      this.#dependencies.observer.log("warn", "An asset library did not take an asset; its address is given instead.", {
        asset: asset.id,
        provider: library.provider.id,
        error: failure,
      });
      return at(link);
    }
  }

  /**
   * The same link for a day, good for at least another one: a conversation names its assets again at every turn, and vendors' prompt
   * caches and bound thoughts depend on what stands before them being the same.
   */
  #link(asset: Asset): string | null {
    const base = this.#dependencies.publicUrl();
    const dayMs = blobUrlUpstreamMs;
    const lifetimeMs = 2 * dayMs - (this.#dependencies.clock.now() % dayMs);
    return base === null ? null : blobLink(asset, base, lifetimeMs, this.#dependencies);
  }

  /** Where the library itself serves it, which lives longer than its first address; else that first address. */
  async #publicAddress(asset: Asset): Promise<string> {
    const holder = this.#mirror.holderOf(asset);
    const group = await this.#dependencies.store.findGroup(asset.workspaceId, asset.groupId);
    if (holder === null || group === null || asset.upstreamId === null) return asset.sourceUrl;
    try {
      return (await holder.poll(asset.upstreamId, group.projectName, this.#signal))?.url ?? asset.sourceUrl;
    } catch (thrown) {
      this.#dependencies.observer.log("debug", "An asset library could not be asked.", {
        asset: asset.id,
        error: thrown,
      });
      return asset.sourceUrl;
    }
  }

  async #inlined(asset: Asset): Promise<Place> {
    const { blobHash, contentType, sizeBytes } = asset;
    if (blobHash === null || contentType === null || sizeBytes === null) throw lost(asset);
    if (sizeBytes > assetInlinedBytesMax) {
      throw new Failure(
        "invalid_request",
        `The asset ${asset.id} is too large to be sent inside a request, and this gateway has no public address under which an upstream could fetch it: set SLUICE_PUBLIC_URL.`,
      );
    }
    const stream = await this.#dependencies.blobs.read(blobHash, 0, sizeBytes);
    if (stream === null) throw lost(asset);
    const bytes = await new Response(stream).bytes();
    return { url: `asset://${asset.id}`, inline: { mediaType: contentType, bytes } };
  }

  /**
   * Active there when it resolves. Throws Failure invalid_request when the library refuses the asset, upstream_timeout
   * when it is still at it after assetBindMs: the binding stays, and the next one goes on from there.
   */
  async #bound(asset: Asset, account: LibraryAccount, addressOf: () => Promise<string>): Promise<AssetBinding> {
    const known = await this.#dependencies.store.binding(asset.id, account.provider.id);
    if (known?.status === "Active") return known;
    return shared(this.#bindings, `${asset.id} ${account.provider.id}`, () =>
      this.#bind(asset, account, known, addressOf),
    );
  }

  async #bind(
    asset: Asset,
    account: LibraryAccount,
    known: AssetBinding | null,
    addressOf: () => Promise<string>,
  ): Promise<AssetBinding> {
    const group = await this.#dependencies.store.findGroup(asset.workspaceId, asset.groupId);
    if (group === null) throw new Failure("asset_not_found", `There is no asset ${asset.id}.`);
    const begun = known?.status === "Processing" ? known : await this.#create(asset, group, account, addressOf);
    return this.#untilActive(begun, account);
  }

  async #create(
    asset: Asset,
    group: AssetGroup,
    account: LibraryAccount,
    addressOf: () => Promise<string>,
  ): Promise<AssetBinding> {
    const { store, clock } = this.#dependencies;
    const providerId = account.provider.id;
    const upstreamGroupId = await shared(this.#groups, `${group.id} ${providerId}`, () =>
      this.#groupOn(account, group),
    );
    const { type, name } = asset;
    const projectName = account.ownProject;
    const url = await addressOf();
    const upstreamId = await account.createAsset({ upstreamGroupId, url, type, name, projectName }, this.#signal);
    const binding: AssetBinding = {
      assetId: asset.id,
      providerId,
      upstreamGroupId,
      upstreamId,
      status: "Processing",
      updatedAt: clock.now(),
    };
    await store.bind(binding);
    return binding;
  }

  /** The container that other assets of the group already have there, or a new one. */
  async #groupOn(account: LibraryAccount, group: AssetGroup): Promise<string> {
    const { store } = this.#dependencies;
    const filter = { workspaceId: group.workspaceId, groupId: group.id };
    const { assets } = await store.assets(filter, null, assetSiblingsMax);
    for (const sibling of assets) {
      const binding = await store.binding(sibling.id, account.provider.id);
      if (binding !== null && binding.status !== "Failed") return binding.upstreamGroupId;
    }
    return account.createGroup({ ...group, projectName: account.ownProject }, this.#signal);
  }

  async #untilActive(begun: AssetBinding, account: LibraryAccount): Promise<AssetBinding> {
    const { clock, store } = this.#dependencies;
    const endMs = clock.monotonic() + assetBindMs;
    let waitMs = bounds.assetPollMs / 2;
    for (;;) {
      await sleep(clock, waitMs, this.#signal);
      throwIfGone(this.#signal);
      const seen = await account.poll(begun.upstreamId, account.ownProject, this.#signal);
      const status = seen?.status ?? "Failed";
      if (status !== "Processing") {
        const binding: AssetBinding = { ...begun, status, updatedAt: clock.now() };
        await store.bind(binding);
        if (status === "Active") return binding;
        const why = seen?.error ?? null;
        throw new Failure(
          "invalid_request",
          `The asset library of ${account.platform} does not take the asset ${begun.assetId}${why === null ? "" : ` (${why.code}: ${why.message})`}.`,
        );
      }
      if (clock.monotonic() >= endMs) {
        const message = `The asset library of ${account.platform} is still taking the asset over.`;
        throw new Failure("upstream_timeout", message, { retry: "other" });
      }
      waitMs = Math.min(waitMs * 2, bounds.assetPollMs * 2);
    }
  }
}

type Place = Omit<ResolvedAsset, "type">;

function at(url: string): Place {
  return { url, inline: null };
}

function libraryReference(upstreamId: string): Place {
  return at(`asset://${upstreamId}`);
}

function lost(asset: Asset): Failure {
  return new Failure("internal_error", `The bytes of the asset ${asset.id} are not in the blob store.`);
}

function shared<T>(running: Map<string, Promise<T>>, key: string, begin: () => Promise<T>): Promise<T> {
  const known = running.get(key);
  if (known !== undefined) return known;
  const made = begin().finally(() => running.delete(key));
  running.set(key, made);
  return made;
}
