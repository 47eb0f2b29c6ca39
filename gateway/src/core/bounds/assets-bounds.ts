import { assetGroupFields } from "@sluice/contract/words";

/** Assets and blobs. Sizes in bytes, times in milliseconds. */
export const assetsBounds = {
  /** Temporary files of blobs that were not written to for this long belong to nobody. */
  blobLeftoverMs: 3_600_000,
  /** Blobs in a bucket: the pieces they are read in, tries of one request, and how long a silent bucket is waited for. */
  bucketPieceBytes: 1024 * 1024,
  bucketTriesMax: 3,
  bucketSilenceMs: 30_000,
  bucketUploadMs: 1_800_000,
  /** When a caller may ask again after the disk or the bucket failed. */
  storageRetryAfterMs: 5_000,
  /** Names and descriptions of asset groups and assets, in characters. */
  assetNameCharactersMax: assetGroupFields.name.maxLength,
  assetDescriptionCharactersMax: assetGroupFields.description.maxLength,
  /** Material of our own platform, as the strictest known library takes it: bytes by type, sides in pixels, width by height. */
  assetImageBytesMax: 30 * 1024 * 1024,
  assetVideoBytesMax: 50 * 1024 * 1024,
  assetAudioBytesMax: 15 * 1024 * 1024,
  /** A form with one of them in it. */
  assetUploadBytesMax: 51 * 1024 * 1024,
  assetSidePixelsMin: 300,
  assetSidePixelsMax: 6_000,
  assetRatioMin: 0.4,
  assetRatioMax: 2.5,
  /** Wider than any one vendor (Ark takes 2 to 15 seconds); each judges for itself beyond this. */
  assetSecondsMin: 1,
  assetSecondsMax: 120,
  /** Fetching an asset from its address: each wait, the whole, and how often it may move. */
  assetConnectMs: 10_000,
  assetHeadersMs: 20_000,
  assetIdleMs: 20_000,
  assetFetchMs: 120_000,
  assetMovesMax: 3,
  /** How long one pass owns an asset; longer than the fetch and what follows it. */
  assetLeaseMs: 180_000,
  /** Assets one process works on at once, and how often it looks for due ones at most, and at least. */
  assetsAtOnceMax: 8,
  assetTickMs: 2_000,
  assetRestMs: 15_000,
  /** Waits after a fetch that failed by its host's fault; an asset older than the last is given up. */
  assetRetryMs: 2_000,
  assetRetryMsMax: 30_000,
  assetGiveUpMs: 60_000,
  /** Waits between looks at an asset that an upstream's library is processing, and when that has taken too long. */
  assetPollMs: 1_000,
  assetPollMsMax: 15_000,
  assetProcessingMs: 86_400_000,
  /** A caller that asks sees what the library said at most this long ago. */
  assetFreshMs: 2_000,
  /** One call to an upstream's asset library, and its answer. */
  assetLibraryMs: 30_000,
  assetLibraryBytesMax: 256 * 1024,
  /** How long a task waits for its asset to become Active on another account. */
  assetBindMs: 30_000,
  /** Assets of a group that are looked at for the container it already has on an account. */
  assetSiblingsMax: 50,
  /** An asset that is sent inside a request because nothing of ours can be fetched from outside. */
  assetInlinedBytesMax: 10 * 1024 * 1024,
  /** Signed addresses of our blobs: those shown to callers, and those given to upstreams, which may queue for hours. */
  blobUrlMs: 3_600_000,
  blobUrlUpstreamMs: 86_400_000,
  /** What is read of a file at once to see its measures, how many of its parts are looked at, and how much tells its type. */
  mediaWindowBytes: 64 * 1024,
  mediaPartsMax: 512,
  mediaOpeningBytes: 64,
  /** A task's name at its vendor, and what is kept of a vendor's sentence about why one failed. */
  upstreamIdCharactersMax: 512,
} as const;
