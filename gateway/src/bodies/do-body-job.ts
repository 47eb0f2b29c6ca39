import { asFailure, Failure, type FailureCode, type FailureOptions } from "#core/index.ts";
import { putAssets, readAssets } from "./asset-references.ts";
import { type BodyBytes, wholeOfSpent } from "./body-bytes.ts";
import type { BodyAnswer, BodyAsk, BodyJobKind, Job, JobContext } from "./body-jobs.ts";
import { adjustBody, inlineMedia, leaveOut, patchBody, patchUnsealed, readBody, readReply } from "./native-jobs.ts";
import {
  answerImages,
  answerTurn,
  answerVectors,
  translateTurn,
  writeImages,
  writeVectorsAsked,
} from "./translation-jobs.ts";
import { unpackBody } from "./unpack-job.ts";
import { readVideoBody, writeVideoRequest } from "./video-jobs.ts";

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

/** A failure as it goes from one thread to another. */
interface CarriedFailure extends Omit<FailureOptions, "cause" | "upstream"> {
  readonly code: FailureCode;
  readonly message: string;
  /** What was thrown where it is none of ours: its name and words, for the log. */
  readonly unexpected: string | null;
}

function carriedFailure(failure: Failure): CarriedFailure {
  const { code, message, param, retry, retryAfterMs, details, unhealthy, arrival, contextLength, cause } = failure;
  const unexpected = code !== "internal_error" ? null : cause instanceof Error ? `${cause.name}: ${cause.message}` : "";
  return {
    code,
    message,
    param,
    retry,
    unhealthy,
    arrival,
    contextLength,
    unexpected,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(details === undefined ? {} : { details }),
  };
}

export function failureOf({ code, message, unexpected, ...options }: CarriedFailure): Failure {
  return new Failure(code, message, unexpected === null ? options : { ...options, cause: new Error(unexpected) });
}
