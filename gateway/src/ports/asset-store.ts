import type { Asset, AssetBinding, AssetGroup, AssetStatus, PlatformId, Provider } from "#core/index.ts";

export interface AssetFilter {
  readonly workspaceId: string;
  readonly platform?: PlatformId;
  readonly groupId?: string;
  readonly status?: AssetStatus;
}

/** Who has bytes: an asset or a task by its id, or all assets of a group. */
export interface BlobOwner {
  readonly id?: string;
  readonly groupId?: string;
}

export interface AssetStore {
  createGroup(group: AssetGroup): Promise<void>;
  findGroup(workspaceId: string, id: string): Promise<AssetGroup | null>;
  /** Newest first. */
  groups(
    filter: { readonly workspaceId: string; readonly platform?: PlatformId },
    cursor: string | null,
    limit: number,
  ): Promise<{ readonly groups: readonly AssetGroup[]; readonly next: string | null }>;
  updateGroup(id: string, change: Partial<Pick<AssetGroup, "upstreamId" | "providerId" | "updatedAt">>): Promise<void>;
  /** With its assets and their bindings. */
  deleteGroup(workspaceId: string, id: string): Promise<boolean>;
  createAsset(asset: Asset): Promise<void>;
  findAsset(workspaceId: string, id: string): Promise<Asset | null>;
  assets(
    filter: AssetFilter,
    cursor: string | null,
    limit: number,
  ): Promise<{ readonly assets: readonly Asset[]; readonly next: string | null }>;
  /** Writes only if the asset still has the values in `still`. false: it has others, or it was deleted. */
  updateAsset(
    id: string,
    change: Partial<Omit<Asset, "id" | "workspaceId" | "groupId" | "platform" | "createdAt">>,
    still?: Partial<Pick<Asset, "dueAt" | "status">>,
  ): Promise<boolean>;
  deleteAsset(workspaceId: string, id: string): Promise<boolean>;
  /** Leases the assets whose work is due. Their `dueAt` becomes the end of the lease; later writes check it with `still`. */
  dueAssets(now: number, leaseMs: number, limit: number): Promise<readonly Asset[]>;
  /** When the first asset is due. null: none is. */
  nextDueAsset(): Promise<number | null>;
  /** How many assets and results of tasks, in any workspace, still use these bytes; those of `but` are not counted. */
  blobUses(hash: string, but?: BlobOwner): Promise<number>;
  binding(assetId: string, providerId: string): Promise<AssetBinding | null>;
  bindings(assetId: string): Promise<readonly AssetBinding[]>;
  bind(binding: AssetBinding): Promise<void>;
}

/** What replaces a reference in a request. */
export interface ResolvedAsset {
  /** The reference itself, when its bytes have to be sent. The writer of the request then puts the bytes there. */
  readonly url: string;
  readonly inline: InlineAsset | null;
  readonly type: "image" | "video" | "audio";
}

interface InlineAsset {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Resolves the assets that video tasks refer to. Both calls throw asset_not_found for an asset of another workspace. */
export interface AssetResolver {
  /**
   * What an upstream gets instead of `asset://<assetId>`: an id of its own library, a signed URL, or the bytes. An asset
   * that the account does not know yet is bound to it first. Throws invalid_request when the asset is not Active.
   */
  resolve(workspaceId: string, assetId: string, account: Provider): Promise<ResolvedAsset>;
  /** The providers that have all of these assets already; they are preferred. null: none is preferred. Throws as above. */
  holders(workspaceId: string, assetIds: readonly string[]): Promise<readonly string[] | null>;
}
