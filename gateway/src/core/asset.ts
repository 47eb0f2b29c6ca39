/** The place of stored assets: our own blob store, or the asset library of an upstream. */
export type PlatformId = "local" | "volcengine" | "byteplus";
export const platformIds: readonly PlatformId[] = ["local", "volcengine", "byteplus"];

export type AssetType = "Image" | "Video" | "Audio";
export type AssetStatus = "Processing" | "Active" | "Failed";

/** A container for reusable material of one workspace. Times are Unix milliseconds. */
export interface AssetGroup {
  /** `ag_…` */
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: PlatformId;
  readonly name: string;
  readonly description: string;
  readonly projectName: string;
  /** In the library of an upstream: the account and the id there. */
  readonly providerId: string | null;
  readonly upstreamId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Its id is `as_…`. */
export interface Asset extends Omit<AssetGroup, "description" | "projectName"> {
  readonly groupId: string;
  readonly type: AssetType;
  /** The URL given by the caller; "" for an uploaded file. */
  readonly sourceUrl: string;
  readonly status: AssetStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** SHA-256 of the bytes, if they are in our blob store. */
  readonly blobHash: string | null;
  readonly sizeBytes: number | null;
  readonly contentType: string | null;
  /** When it is processed next; null if nothing is to do. */
  readonly dueAt: number | null;
}

/** A copy of an asset in another account. */
export interface AssetBinding {
  readonly assetId: string;
  readonly providerId: string;
  readonly upstreamGroupId: string;
  readonly upstreamId: string;
  readonly status: AssetStatus;
  readonly updatedAt: number;
}
