import { assetGroupFields } from "@sluice/contract/words";

/** Assets and blobs. Sizes in bytes, times in milliseconds. */
export const assetsBounds = {
  /** Timeout of a silent bucket. */
  bucketSilenceMs: 30_000,
  /** Retry-After when the disk or the bucket failed. */
  storageRetryAfterMs: 5_000,
  /** Names and descriptions of asset groups and assets, in characters. */
  assetNameCharactersMax: assetGroupFields.name.maxLength,
  /** A form that uploads an asset. */
  assetUploadBytesMax: 51 * 1024 * 1024,
  /** Fetching an asset from its address. */
  assetConnectMs: 10_000,
  assetHeadersMs: 20_000,
  /** The first wait between two polls of an asset that an upstream's library is processing. */
  assetPollMs: 1_000,
  /** Lifetime of a signed URL. */
  blobUrlMs: 3_600_000,
  /** Bytes at the start of a file that show its type. */
  mediaOpeningBytes: 64,
  /** Length of a vendor's task id, and of the stored error message of a vendor. */
  upstreamIdCharactersMax: 512,
} as const;
