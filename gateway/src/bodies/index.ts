/**
 * bodies: work on whole bodies: unpacking, reading, translating, putting assets in place. The sender decides what such work
 * costs, so large bodies go to threads (port Offload). Small ones are worked on at once. Buffers are moved, not copied.
 *
 * doBodyJob  one job, as a thread does it: a pure function from bytes to bytes.
 * BodyWork   gives jobs to threads and waits for them.
 *
 * When a thread dies or is late, its call fails and says so. The body is lost then.
 */
export { mentionsAssets } from "./asset-references.ts";
export { type BodyBytes, sizeOf, wholeOf } from "./body-bytes.ts";
export { type BodyOutcome, BodyWork, outcomeOf } from "./body-work.ts";
export type { CarriedMedia } from "./carried-media.ts";
export { type BodyAsk, type BodyJobKind, doBodyJob, type WorkOrder, type WorkReply } from "./do-body-job.ts";
export type { BodyMarks } from "./native-jobs.ts";
export { addressesIn, withMedia } from "./translation-jobs.ts";
export { notUnpacked, unpack } from "./unpack-job.ts";
export { markIn, type OpenAiVideoBody } from "./video-jobs.ts";
