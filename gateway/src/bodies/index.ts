/**
 * bodies: work on whole bodies whose cost their sender chooses: unpacking, reading, translating, putting assets in place.
 * Small ones are worked on where they are. Larger ones go to threads (port Offload) and come back as bytes that are ready
 * to be sent; their buffers are moved, never copied.
 *
 * doBodyJob  a job as its thread does it: pure, from bytes to bytes.
 * BodyWork   the same for whoever waits for it.
 *
 * When a thread dies or is late its call fails and says so; what it worked on is gone.
 */
export { mentionsAssets } from "./asset-references.ts";
export { type BodyBytes, sizeOf, wholeOf } from "./body-bytes.ts";
export type { BodyAsk, BodyJobKind, BodyMarks, CarriedMedia, OpenAiVideoBody } from "./body-jobs.ts";
export { type BodyOutcome, BodyWork, outcomeOf } from "./body-work.ts";
export { doBodyJob, type WorkOrder, type WorkReply } from "./do-body-job.ts";
export { markIn } from "./material-marks.ts";
export { addressesIn, withMedia } from "./turn-media.ts";
export { notUnpacked } from "./unpack-job.ts";
