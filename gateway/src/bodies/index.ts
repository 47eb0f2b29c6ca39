/**
 * bodies: work on whole bodies: unpacking, reading, translating, replacing assets. The sender decides how much such work costs, so
 * large bodies are processed in threads (port Offload) and small ones in place. Buffers are moved, not copied.
 *
 * doBodyJob  runs one job: a pure function from bytes to bytes.
 * BodyWork   sends jobs to threads and waits for them.
 *
 * If a thread dies or is late, its call fails. The body is lost then.
 */
export { mentionsAssets } from "./asset-references.ts";
export { type BodyBytes, sizeOf, wholeOf } from "./body-bytes.ts";
export { type BodyOutcome, BodyWork, outcomeOf } from "./body-work.ts";
export type { CarriedMedia } from "./carried-media.ts";
export { type BodyAsk, type BodyJobKind, doBodyJob, type WorkOrder, type WorkReply } from "./do-body-job.ts";
export type { PutFile } from "./file-references.ts";
export type { BodyMarks } from "./native-jobs.ts";
export { addressesIn, withMedia } from "./translation-jobs.ts";
export { canUnpack, unpack } from "./unpack-job.ts";
export { markIn, type OpenAiVideoBody } from "./video-jobs.ts";
