import { assetGroupFields } from "@sluice/contract/words";

/** Assets and blobs. Sizes in bytes, times in milliseconds. */
export const assetsBounds = {
  /** How long a silent bucket is waited for. */
  bucketSilenceMs: 30_000,
  /** When a caller may ask again after the disk or the bucket failed. */
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
  /** The life of a signed address that callers get. */
  blobUrlMs: 3_600_000,
  /** The opening of a file that tells its type. */
  mediaOpeningBytes: 64,
  /** A task's name at its vendor, and what is kept of a vendor's sentence about why one failed. */
  upstreamIdCharactersMax: 512,
} as const;
