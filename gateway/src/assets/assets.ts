import {
  type Asset,
  type AssetGroup,
  type AssetStatus,
  bounds,
  DueWorker,
  Failure,
  type PlatformId,
  type Provider,
  throwIfGone,
} from "#core/index.ts";
import {
  type CallBody,
  readAssetCall,
  readGroupCall,
  readPlatform,
  readUpload,
  type UploadFields,
} from "./asset-calls.ts";
import type { BlobOwner } from "./asset-store.ts";
import { type BlobAnswer, blobAnswer, blobLink, readBlob } from "./blob-links.ts";
import { Deletions } from "./deletions.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { chooseAccount } from "./library-account.ts";
import { LibrarySync } from "./library-sync.ts";
import { LocalAssets, newAsset, type UploadedFile } from "./local-assets.ts";
import { type ResolvedAsset, Resolver } from "./resolver.ts";

/** Longer than a fetch and what follows it. */
export const assetLeaseMs = 180_000;
/** Most concurrent assets, and the shortest and longest wait between checks for due ones. */
export const assetsAtOnceMax = 8;
export const assetTickMs = 2_000;
const assetRestMs = 15_000;

/** List filters as the caller sent them; null: all. */
export interface AssetListOptions {
  readonly platform: string | null;
  readonly groupId: string | null;
  readonly status: string | null;
}

/**
 * Groups and assets of all workspaces. Assets of another workspace look missing. A creation in an upstream's library
 * continues after the caller has left, so that its result is not lost.
 */
export class Assets {
  readonly #dependencies: AssetsDependencies;
  readonly #end = new AbortController();
  readonly #mirror: LibrarySync;
  readonly #local: LocalAssets;
  readonly #deletions: Deletions;
  readonly #resolver: Resolver;
  readonly #worker: DueWorker<Asset>;

  constructor(dependencies: AssetsDependencies) {
    this.#dependencies = dependencies;
    const { signal } = this.#end;
    this.#mirror = new LibrarySync(dependencies, signal);
    this.#local = new LocalAssets(dependencies);
    this.#deletions = new Deletions(dependencies, this.#mirror, this.#local, signal);
    this.#resolver = new Resolver(dependencies, this.#mirror, signal);
    const { store, clock, observer } = dependencies;
    this.#worker = new DueWorker({
      rows: { next: () => store.nextDueAsset(), lease: (...due) => store.dueAssets(...due) },
      ...{ leaseMs: assetLeaseMs, atOnceMax: assetsAtOnceMax, tickMs: assetTickMs, restMs: assetRestMs },
      noun: "asset",
      work: (asset, leaseUntil, ended) => this.#work(asset, leaseUntil, ended),
      ...{ clock, observer },
    });
  }

  /** Processes due assets, also those of an earlier process. */
  start(): void {
    this.#worker.start();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#worker.stop();
  }

  /** Removes bytes that no asset and no task result uses, except `but`. */
  drop(hash: string, but?: BlobOwner): Promise<void> {
    return this.#local.drop(hash, but);
  }

  async createGroup(workspaceId: string, body: CallBody, signal: AbortSignal): Promise<AssetGroup> {
    const request = readGroupCall(body);
    throwIfGone(signal);
    const account =
      request.platform === "local"
        ? null
        : chooseAccount(this.#dependencies.configSnapshot(), request.platform, request.projectName, this.#dependencies);
    const texts = { ...request, projectName: request.projectName ?? account?.ownProject ?? "default" };
    const upstreamId = account === null ? null : await account.createGroup(texts, this.#end.signal);
    const now = this.#dependencies.clock.now();
    const group: AssetGroup = {
      ...texts,
      id: this.#dependencies.ids.next("ag_"),
      workspaceId,
      providerId: account?.provider.id ?? null,
      upstreamId,
      createdAt: now,
      updatedAt: now,
    };
    await this.#dependencies.store.createGroup(group);
    return group;
  }

  async group(workspaceId: string, id: string, platform: string): Promise<AssetGroup> {
    const group = await this.#dependencies.store.findGroup(workspaceId, id);
    if (group === null || group.platform !== platform) throw groupMissing(id);
    return group;
  }

  /** Newest first, after `cursor`. */
  async groups(workspaceId: string, platform: string | null, cursor: string | null, limit: number) {
    return this.#dependencies.store.groups({ workspaceId, ...platformFilter(platform) }, cursor, limit);
  }

  /** Whether any workspace has an asset group. */
  anyGroup(): Promise<boolean> {
    return this.#dependencies.store.anyGroup();
  }

  /** Deletes its assets, too. */
  async deleteGroup(workspaceId: string, id: string, signal: AbortSignal): Promise<void> {
    throwIfGone(signal);
    const found = await this.#dependencies.store.findGroup(workspaceId, id);
    if (found === null || !(await this.#deletions.group(found))) throw groupMissing(id);
  }

  /** Returns at once; the asset is processed in the background. */
  async createAsset(workspaceId: string, body: CallBody, signal: AbortSignal): Promise<Asset> {
    const { platform, groupId, url, type, name } = readAssetCall(body);
    throwIfGone(signal);
    const group = await this.group(workspaceId, groupId, platform);
    const upstream = await this.#createUpstream(group, { url, type, name });
    const now = this.#dependencies.clock.now();
    const asset = newAsset(group, this.#dependencies.ids.next("as_"), now, {
      ...{ name, type, sourceUrl: url, ...upstream },
      dueAt: upstream === null ? now : now + bounds.assetPollMs,
    });
    await this.#dependencies.store.createAsset(asset);
    this.#worker.wake();
    return asset;
  }

  /** Creates an Active asset on our own platform. Throws invalid_request for an unsupported file. */
  async upload(workspaceId: string, fields: UploadFields, file: UploadedFile, signal: AbortSignal): Promise<Asset> {
    const { groupId, name } = readUpload(fields, file.media);
    throwIfGone(signal);
    return this.#local.upload(await this.group(workspaceId, groupId, "local"), name, file, signal);
  }

  /** Refreshes an asset that a library is processing, unless that was done seconds ago. */
  async asset(workspaceId: string, id: string, platform: string): Promise<Asset> {
    const found = await this.#dependencies.store.findAsset(workspaceId, id);
    if (found === null || found.platform !== platform) throw assetMissing(id);
    return this.#mirror.refresh(found);
  }

  async assets(workspaceId: string, asked: AssetListOptions, cursor: string | null, limit: number) {
    const filter = {
      workspaceId,
      ...platformFilter(asked.platform),
      ...(asked.groupId === null ? {} : { groupId: asked.groupId }),
      ...(asked.status === null ? {} : { status: readStatus(asked.status) }),
    };
    return this.#dependencies.store.assets(filter, cursor, limit);
  }

  async deleteAsset(workspaceId: string, id: string, signal: AbortSignal): Promise<void> {
    throwIfGone(signal);
    const found = await this.#dependencies.store.findAsset(workspaceId, id);
    if (found === null || !(await this.#deletions.asset(found))) throw assetMissing(id);
  }

  /** Resolves `asset://<id>` before an upstream is chosen. Throws like `resolve`. */
  portable(workspaceId: string, assetId: string): Promise<ResolvedAsset> {
    return this.#resolver.portable(workspaceId, assetId);
  }

  /**
   * Resolves `asset://<assetId>` for an upstream: an id of its library, a signed URL, or the bytes. Binds the asset to the
   * account if necessary. Throws asset_not_found, or invalid_request if the asset is not Active.
   */
  resolve(workspaceId: string, assetId: string, account: Provider): Promise<ResolvedAsset> {
    return this.#resolver.resolve(workspaceId, assetId, account);
  }

  /** The providers that already have all of these assets; null: no preference. Throws like `resolve`. */
  holders(workspaceId: string, assetIds: readonly string[]): Promise<readonly string[] | null> {
    return this.#resolver.holders(workspaceId, assetIds);
  }

  /** A signed URL for the asset's bytes; null without stored bytes or a public URL. */
  blobUrl(asset: Asset, lifetimeMs: number): string | null {
    const base = this.#dependencies.publicUrl();
    return base === null ? null : blobLink(asset, base, lifetimeMs, this.#dependencies);
  }

  /** A signed URL for stored bytes, else the source URL. null: it was uploaded and is not available. */
  urlOf(asset: Asset): string | null {
    return (asset.status === "Active" ? this.blobUrl(asset, bounds.blobUrlMs) : null) ?? (asset.sourceUrl || null);
  }

  readBlob(hash: string, query: URLSearchParams, range: string | null): Promise<BlobAnswer> {
    return readBlob(hash, query, range, this.#dependencies);
  }

  /** An asset's stored bytes, with a stable `etag`. Throws asset_not_found, and not_found if its bytes are not stored here. */
  async content(workspaceId: string, id: string, range: string | null): Promise<BlobAnswer> {
    const asset = await this.#dependencies.store.findAsset(workspaceId, id);
    if (asset === null) throw assetMissing(id);
    const { blobHash: hash, contentType: type } = asset;
    const blob = hash === null || type === null ? null : await this.#dependencies.blobs.stat(hash);
    if (hash === null || type === null || blob === null) throw noBytes(asset);
    const answer = await blobAnswer(this.#dependencies.blobs, { hash, size: blob.size, type }, range, {
      etag: `"${hash}"`,
    });
    if (answer.status === 404) throw noBytes(asset);
    return answer;
  }

  async #work(asset: Asset, leaseUntil: number, signal: AbortSignal): Promise<void> {
    if (asset.status !== "Processing") {
      await this.#dependencies.store.updateAsset(asset.id, { dueAt: null }, { dueAt: leaseUntil });
    } else if (asset.platform !== "local") await this.#mirror.poll(asset);
    else await this.#local.work(asset, leaseUntil, signal);
  }

  /** null for our own platform. */
  async #createUpstream(
    group: AssetGroup,
    { url, type, name }: Pick<Asset, "type" | "name"> & { readonly url: string },
  ): Promise<{ readonly providerId: string; readonly upstreamId: string } | null> {
    if (group.platform === "local") return null;
    const account = this.#mirror.holderOf(group);
    if (account === null || group.upstreamId === null || !account.provider.enabled) {
      throw new Failure("no_deployment_available", "The account of this asset group is disabled or was deleted.");
    }
    const texts = { upstreamGroupId: group.upstreamId, url, type, name, projectName: group.projectName };
    return { providerId: account.provider.id, upstreamId: await account.createAsset(texts, this.#end.signal) };
  }
}

function platformFilter(platform: string | null): { readonly platform?: PlatformId } {
  return platform === null || platform === "" ? {} : { platform: readPlatform(platform) };
}

function readStatus(text: string): AssetStatus {
  if (text === "Processing" || text === "Active" || text === "Failed") return text;
  throw new Failure("invalid_request", "status must be Processing, Active or Failed.", { param: "status" });
}

function noBytes({ platform, status }: Asset): Failure {
  const why = platform === "local" ? `it is ${status}` : `the library of ${platform} has them`;
  return new Failure("not_found", `The bytes of this asset are not stored here: ${why}.`);
}

function groupMissing(id: string): Failure {
  return new Failure("asset_group_not_found", `There is no asset group ${id} on this platform.`);
}

function assetMissing(id: string): Failure {
  return new Failure("asset_not_found", `There is no asset ${id} on this platform.`);
}
