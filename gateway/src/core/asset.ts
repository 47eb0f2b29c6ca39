/** Where assets live: our own blob store, or the asset library of an upstream. */
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
  /** On an upstream's platform: the account that holds it and its id there. */
  readonly providerId: string | null;
  readonly upstreamId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Its id is `as_…`. */
export interface Asset extends Omit<AssetGroup, "description" | "projectName"> {
  readonly groupId: string;
  readonly type: AssetType;
  /** Where the caller said it is; empty for a file that was uploaded. */
  readonly sourceUrl: string;
  readonly status: AssetStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** SHA-256 of the bytes, when they are in our blob store. */
  readonly blobHash: string | null;
  readonly sizeBytes: number | null;
  readonly contentType: string | null;
  /** When its work is to be looked at next; null when there is none. */
  readonly dueAt: number | null;
}

/** One asset as another account knows it. */
export interface AssetBinding {
  readonly assetId: string;
  readonly providerId: string;
  readonly upstreamGroupId: string;
  readonly upstreamId: string;
  readonly status: AssetStatus;
  readonly updatedAt: number;
}
