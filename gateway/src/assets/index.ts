/**
 * assets: reusable material of a workspace, in groups, each on a platform.
 *
 * local        our own: the bytes are uploaded, or fetched from the caller's address through the guard, judged, kept by their
 *              hash, and read through signed links that expire.
 * the others   an upstream's asset library: made there, mirrored here, looked at until it is Active or Failed.
 * binding      one asset as another account of the platform knows it, made when a task first needs it there.
 *
 * Promises: an asset that was accepted becomes Active or Failed with a reason, whichever process dies; bytes are never
 * held whole; what belongs to another workspace looks missing. A library that is down changes nothing; a host that is
 * down fails its asset after a few tries.
 */

export { Assets } from "./assets.ts";
export { readRange } from "./byte-range.ts";
export type { AssetsDependencies } from "./dependencies.ts";
export { FileJudge } from "./file-judge.ts";
export { assetAnswer, groupAnswer } from "./show.ts";
