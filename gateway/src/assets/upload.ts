import { type Asset, type AssetGroup, bounds, Failure } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import type { UploadRequest } from "./asset-calls.ts";
import { BlobView } from "./blob-view.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { measureProblem } from "./measure.ts";
import { assetBytesMax, type MediaType } from "./media-type.ts";
import type { UnusedBlobs } from "./unused-blobs.ts";

/** A file that has arrived whole. */
export interface UploadedFile {
  /** By its first bytes. */
  readonly media: MediaType;
  readonly read: () => ReadableStream<Uint8Array>;
}

interface Parts {
  readonly dependencies: AssetsDependencies;
  readonly unused: UnusedBlobs;
}

/**
 * Keeps a file as an asset of our own platform, which is Active at once. Throws Failure invalid_request where its measures are not
 * those that material may have, storage_unavailable; then nothing is kept.
 */
export async function keepUpload(
  { name }: UploadRequest,
  file: UploadedFile,
  group: AssetGroup,
  { dependencies, unused }: Parts,
  signal: AbortSignal,
): Promise<Asset> {
  const { type, contentType } = file.media;
  const blob = await dependencies.blobs.put(file.read(), assetBytesMax[type], signal);
  const problem = await measureProblem(new BlobView(dependencies.blobs, blob), file.media);
  if (problem !== null) {
    await unused.drop(blob.hash);
    throw new Failure("invalid_request", problem.message, { param: "file" });
  }
  const now = dependencies.clock.now();
  const asset: Asset = {
    id: dependencies.ids.next("as_"),
    workspaceId: group.workspaceId,
    groupId: group.id,
    platform: "local",
    name,
    type,
    sourceUrl: "",
    status: "Active",
    error: null,
    providerId: null,
    upstreamId: null,
    ...kept(blob, contentType),
    createdAt: now,
    updatedAt: now,
    dueAt: null,
  };
  if (await unused.keep(blob.hash, () => dependencies.store.createAsset(asset))) return asset;
  throw new Failure("storage_unavailable", "The file could not be kept; try again.", {
    retryAfterMs: bounds.storageRetryAfterMs,
  });
}

function kept({ hash, size }: BlobInfo, contentType: string): Pick<Asset, "blobHash" | "sizeBytes" | "contentType"> {
  return { blobHash: hash, sizeBytes: size, contentType };
}
