/**
 * assets: reusable files of a workspace: images, videos, audio. They are in groups, and each group is on a platform.
 *
 * local     our own platform. The file is fetched from the caller's URL, checked, and stored by its hash. Signed, expiring
 * links serve it.
 * others    an upstream's asset library. The asset is created there, and its state is copied until it is Active or Failed.
 * binding   the same asset in another account of the platform, created when a task first needs it there.
 *
 * Promises: an accepted asset becomes Active, or Failed with a reason, even if the process dies. Files are streamed, never
 * held in memory. Assets of another workspace look missing. While a library is down, nothing changes. If the file's host is
 * down, the asset fails after a few attempts.
 */

export { assetAnswer, groupAnswer } from "./asset-calls.ts";
export { type AssetStore, createAssetStore } from "./asset-store.ts";
export { Assets } from "./assets.ts";
export { type BlobAnswer, blobAnswer } from "./blob-links.ts";
export type { AssetsDependencies } from "./dependencies.ts";
export { UploadCheck as FileJudge } from "./media-type.ts";
