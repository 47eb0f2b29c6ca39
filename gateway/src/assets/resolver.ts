import { type Asset, asFailure, Failure, type Provider } from "#core/index.ts";
import type { Bindings } from "./bindings.ts";
import { blobLink } from "./blob-links.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { type LibraryAccount, libraryAccount } from "./library-account.ts";
import type { Mirror } from "./mirror.ts";

/** An asset that is sent inside a request because nothing of ours can be fetched from outside. */
export const assetInlinedBytesMax = 10 * 1024 * 1024;
/** The life of a signed address that an upstream gets: it may queue the task for hours. */
export const blobUrlUpstreamMs = 86_400_000;

interface ResolverDependencies {
  readonly dependencies: AssetsDependencies;
  readonly mirror: Mirror;
  readonly bindings: Bindings;
  readonly signal: AbortSignal;
}

/** What replaces a reference in a request. */
export interface ResolvedAsset {
  /** The reference itself, when its bytes have to be sent. The writer of the request then puts the bytes there. */
  readonly url: string;
  readonly inline: { readonly mediaType: string; readonly bytes: Uint8Array } | null;
  readonly type: "image" | "video" | "audio";
}

const mediaTypes = { Image: "image", Video: "video", Audio: "audio" } as const;

/** What upstreams are given in the place of an asset. */
export class Resolver {
  readonly #dependencies: AssetsDependencies;
  readonly #mirror: Mirror;
  readonly #bindings: Bindings;
  readonly #signal: AbortSignal;

  constructor({ dependencies, mirror, bindings, signal }: ResolverDependencies) {
    this.#dependencies = dependencies;
    this.#mirror = mirror;
    this.#bindings = bindings;
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
    const { upstreamId } = await this.#bindings.bound(asset, library, () => this.#publicAddress(asset));
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
    const asset = await this.#mirror.refresh(found, this.#signal);
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
      return libraryReference((await this.#bindings.bound(asset, library, async () => link)).upstreamId);
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
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    return { url: `asset://${asset.id}`, inline: { mediaType: contentType, bytes } };
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
