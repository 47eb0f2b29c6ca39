import type { Failure } from "#core/index.ts";
import { asFailure } from "#core/index.ts";
import { adjustBody } from "./adjust-job.ts";
import { putAssets, readAssets } from "./asset-references.ts";
import { type BodyBytes, wholeOfSpent } from "./body-bytes.ts";
import type { BodyAnswer, BodyAsk, BodyJobKind } from "./body-jobs.ts";
import { type CarriedFailure, carriedFailure } from "./carried-failure.ts";
import { answerVectors, writeVectorsAsked } from "./embedding-jobs.ts";
import { answerImages, writeImages } from "./image-jobs.ts";
import type { Job, JobContext } from "./job-desk.ts";
import { inlineMedia, leaveOut, patchBody, patchUnsealed, readBody, readReply } from "./native-jobs.ts";
import { answerTurn, translateTurn } from "./turn-jobs.ts";
import { unpackBody } from "./unpack-job.ts";
import { readVideoBody } from "./video-body-job.ts";
import { writeVideoRequest } from "./video-request-job.ts";

/** To a thread. */
export interface WorkOrder<Kind extends BodyJobKind = BodyJobKind> {
  readonly kind: Kind;
  readonly ask: BodyAsk<Kind>;
  readonly body: BodyBytes;
  readonly beside: readonly Uint8Array[];
}

/** From a thread: the body comes back in any case. */
export interface WorkReply<Kind extends BodyJobKind = BodyJobKind> {
  readonly body: Uint8Array;
  readonly made: Uint8Array | null;
  /** null with a failure. */
  readonly answer: BodyAnswer<Kind> | null;
  readonly failure: CarriedFailure | null;
}

const jobs: { readonly [Kind in BodyJobKind]: Job<Kind> } = {
  unpack: unpackBody,
  read: readBody,
  assets: readAssets,
  "put-assets": putAssets,
  patch: patchBody,
  unseal: patchUnsealed,
  govern: leaveOut,
  adjust: adjustBody,
  inline: inlineMedia,
  translate: translateTurn,
  images: writeImages,
  embeddings: writeVectorsAsked,
  "embeddings-answer": answerVectors,
  reply: readReply,
  answer: answerTurn,
  "image-answer": answerImages,
  "video-body": readVideoBody,
  "video-request": writeVideoRequest,
};

/** Does one job. Never throws. */
export function doBodyJob<Kind extends BodyJobKind>(
  { kind, ask, body: bytes, beside }: WorkOrder<Kind>,
  context: JobContext,
): WorkReply<Kind> {
  const body = wholeOfSpent(bytes);
  try {
    const { made, answer } = jobs[kind](body, ask, beside, context);
    return { body, made, answer, failure: null };
  } catch (thrown) {
    const failure: Failure = asFailure(thrown);
    return { body, made: null, answer: null, failure: carriedFailure(failure) };
  }
}
