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
import type { LibrarySync } from "./library-sync.ts";

/** Largest asset that is sent inside a request without a public URL. */
export const assetInlinedBytesMax = 10 * 1024 * 1024;
/** Lifetime of a signed URL for an upstream, which may queue a task for hours. */
export const blobUrlUpstreamMs = 86_400_000;

/** How long a task waits for its asset in another account. */
const assetBindMs = 30_000;
/** Assets that are searched for the group's id in an account. */
const assetSiblingsMax = 50;

/** Replaces a reference in a request. */
export interface ResolvedAsset {
  /** The reference itself if the bytes replace it. */
  readonly url: string;
  readonly inline: { readonly mediaType: string; readonly bytes: Uint8Array } | null;
  readonly type: "image" | "video" | "audio";
}

const mediaTypes = { Image: "image", Video: "video", Audio: "audio" } as const;

/**
 * Resolves assets for upstreams. An asset that the account lacks is created there with its group, in the account's own
 * project, from a public URL, and remembered as a binding. Concurrent requests share the work.
 */
export class Resolver {
  readonly #dependencies: AssetsDependencies;
  readonly #mirror: LibrarySync;
  readonly #signal: AbortSignal;
  readonly #bindings = new Map<string, Promise<AssetBinding>>();
  readonly #groups = new Map<string, Promise<string>>();

  constructor(dependencies: AssetsDependencies, mirror: LibrarySync, signal: AbortSignal) {
    this.#dependencies = dependencies;
    this.#mirror = mirror;
    this.#signal = signal;
  }

  async resolve(workspaceId: string, assetId: string, account: Provider): Promise<ResolvedAsset> {
    const asset = await this.#active(workspaceId, assetId);
    return { ...(await this.#reference(asset, account)), type: mediaTypes[asset.type] };
  }

  /** For an unknown upstream: the stored bytes, else a public URL. */
  async portable(workspaceId: string, assetId: string): Promise<ResolvedAsset> {
    const asset = await this.#active(workspaceId, assetId);
    const place =
      asset.platform === "local" ? await this.#inlined(asset) : urlReference(await this.#publicAddress(asset));
    return { ...place, type: mediaTypes[asset.type] };
  }

  async #reference(asset: Asset, account: Provider): Promise<AssetReference> {
    if (asset.providerId === account.id && asset.upstreamId !== null) return libraryReference(asset.upstreamId);
    const library = libraryAccount(account, this.#dependencies);
    if (asset.platform === "local") return this.#localAsset(asset, library);
    if (library === null || library.platform !== asset.platform) return urlReference(await this.#publicAddress(asset));
    const { upstreamId } = await this.#bindingOf(asset, library, () => this.#publicAddress(asset));
    return libraryReference(upstreamId);
  }

  async holders(workspaceId: string, assetIds: readonly string[]): Promise<readonly string[] | null> {
    let common: readonly string[] | null = null;
    for (const id of new Set(assetIds)) {
      const asset = await this.#active(workspaceId, id);
      // Every account can get our own assets.
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
      `The asset ${assetId} is ${asset.status}${why}; only Active assets can be used.`,
    );
  }

  /**
   * Libraries fetch from public URLs only. If a library fails for a reason of the account (no plan, outage), the upstream
   * may still accept the URL.
   */
  async #localAsset(asset: Asset, library: LibraryAccount | null): Promise<AssetReference> {
    const link = this.#link(asset);
    if (link === null) return await this.#inlined(asset);
    if (library === null) return urlReference(link);
    try {
      return libraryReference((await this.#bindingOf(asset, library, async () => link)).upstreamId);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "invalid_request" || failure.code === "client_closed") throw failure;
      this.#dependencies.observer.log("warn", "an asset library refused an asset; using its URL instead", {
        asset: asset.id,
        provider: library.provider.id,
        error: failure,
      });
      return urlReference(link);
    }
  }

  /** The same link for a whole day, valid for another one: prompt caches and bound thoughts need identical conversations. */
  #link(asset: Asset): string | null {
    const base = this.#dependencies.publicUrl();
    const dayMs = blobUrlUpstreamMs;
    const lifetimeMs = 2 * dayMs - (this.#dependencies.clock.now() % dayMs);
    return base === null ? null : blobLink(asset, base, lifetimeMs, this.#dependencies);
  }

  /** The library's URL, which lives longer than the source URL; else the source URL. */
  async #publicAddress(asset: Asset): Promise<string> {
    const holder = this.#mirror.holderOf(asset);
    const group = await this.#dependencies.store.findGroup(asset.workspaceId, asset.groupId);
    if (holder === null || group === null || asset.upstreamId === null) return asset.sourceUrl;
    try {
      return (await holder.poll(asset.upstreamId, group.projectName, this.#signal))?.url ?? asset.sourceUrl;
    } catch (thrown) {
      this.#dependencies.observer.log("debug", "failed to poll an asset library", {
        asset: asset.id,
        error: thrown,
      });
      return asset.sourceUrl;
    }
  }

  async #inlined(asset: Asset): Promise<AssetReference> {
    const { blobHash, contentType, sizeBytes } = asset;
    if (blobHash === null || contentType === null || sizeBytes === null) throw missingBytes(asset);
    if (sizeBytes > assetInlinedBytesMax) {
      throw new Failure(
        "invalid_request",
        `The asset ${asset.id} is too large to fit inside a request. Set SLUICE_PUBLIC_URL so that upstreams can fetch it.`,
      );
    }
    const stream = await this.#dependencies.blobs.read(blobHash, 0, sizeBytes);
    if (stream === null) throw missingBytes(asset);
    const bytes = await new Response(stream).bytes();
    return { url: `asset://${asset.id}`, inline: { mediaType: contentType, bytes } };
  }

  /**
   * Resolves when the asset is Active there. Throws Failure invalid_request if the library refuses it, upstream_timeout
   * after assetBindMs; the binding stays and the next call continues it.
   */
  async #bindingOf(asset: Asset, account: LibraryAccount, addressOf: () => Promise<string>): Promise<AssetBinding> {
    const binding = await this.#dependencies.store.binding(asset.id, account.provider.id);
    if (binding?.status === "Active") return binding;
    return once(this.#bindings, `${asset.id} ${account.provider.id}`, async () => {
      const group = await this.#dependencies.store.findGroup(asset.workspaceId, asset.groupId);
      if (group === null) throw new Failure("asset_not_found", `There is no asset ${asset.id}.`);
      const pending = binding?.status === "Processing" ? binding : await this.#create(asset, group, account, addressOf);
      return this.#untilActive(pending, account);
    });
  }

  async #create(
    asset: Asset,
    group: AssetGroup,
    account: LibraryAccount,
    addressOf: () => Promise<string>,
  ): Promise<AssetBinding> {
    const { store, clock } = this.#dependencies;
    const providerId = account.provider.id;
    const upstreamGroupId = await once(this.#groups, `${group.id} ${providerId}`, () => this.#groupOn(account, group));
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

  /** The group's id in the account, from other assets or newly created. */
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

  async #untilActive(pending: AssetBinding, account: LibraryAccount): Promise<AssetBinding> {
    const { clock, store } = this.#dependencies;
    const endMs = clock.monotonic() + assetBindMs;
    let waitMs = bounds.assetPollMs / 2;
    for (;;) {
      await sleep(clock, waitMs, this.#signal);
      throwIfGone(this.#signal);
      const seen = await account.poll(pending.upstreamId, account.ownProject, this.#signal);
      const status = seen?.status ?? "Failed";
      if (status !== "Processing") {
        const binding: AssetBinding = { ...pending, status, updatedAt: clock.now() };
        await store.bind(binding);
        if (status === "Active") return binding;
        const why = seen?.error ?? null;
        throw new Failure(
          "invalid_request",
          `The asset library of ${account.platform} refused the asset ${pending.assetId}${why === null ? "" : ` (${why.code}: ${why.message})`}.`,
        );
      }
      if (clock.monotonic() >= endMs) {
        const message = `The asset library of ${account.platform} is still processing the asset.`;
        throw new Failure("upstream_timeout", message, { retry: "other" });
      }
      waitMs = Math.min(waitMs * 2, bounds.assetPollMs * 2);
    }
  }
}

type AssetReference = Omit<ResolvedAsset, "type">;

function urlReference(url: string): AssetReference {
  return { url, inline: null };
}

function libraryReference(upstreamId: string): AssetReference {
  return urlReference(`asset://${upstreamId}`);
}

function missingBytes(asset: Asset): Failure {
  return new Failure("internal_error", `The bytes of the asset ${asset.id} are missing from the blob store.`);
}

function once<T>(running: Map<string, Promise<T>>, key: string, begin: () => Promise<T>): Promise<T> {
  const current = running.get(key);
  if (current !== undefined) return current;
  const made = begin().finally(() => running.delete(key));
  running.set(key, made);
  return made;
}
