/**
 * assets: files that a workspace uses again: pictures, videos, sounds. They are in groups, and each group is on a platform.
 *
 * local     our own platform. The file is fetched from the caller's address, checked, and kept by its hash. Signed links
 *           that expire give it out.
 * others    an upstream's asset library. The asset is made there, and its state is copied here until it is Active or Failed.
 * binding   the same asset in another account of the platform. It is made when a task first needs it there.
 *
 * Promises: an accepted asset becomes Active, or Failed with a reason, even if the process dies. No file is held in memory as
 * a whole. Assets of another workspace look missing. When a library is down, nothing changes. When the file's host is down,
 * the asset fails after a few tries.
 */

export { assetAnswer, groupAnswer } from "./asset-calls.ts";
export { type AssetStore, createAssetStore } from "./asset-store.ts";
export { Assets } from "./assets.ts";
export { type BlobAnswer, blobAnswer } from "./blob-links.ts";
export type { AssetsDependencies } from "./dependencies.ts";
export { FileJudge } from "./media-type.ts";
