import { asFailure, bounds, Failure, type FailureCode, type FailureOptions } from "#core/index.ts";
import { guardedInPlaceBytesMax, type InspectAsk, inspectBody } from "#guardrails/index.ts";
import { openCloudMessages } from "#protocols/index.ts";
import { putAssets, readAssets } from "./asset-references.ts";
import { type BodyBytes, wholeOfSpent } from "./body-bytes.ts";
import { putFiles } from "./file-references.ts";
import { readGeminiBatch } from "./gemini-batch-job.ts";
import { adjustBody, inlineMedia, leaveOut, patchBody, patchUnsealed, readBody, readReply } from "./native-jobs.ts";
import {
  answerImages,
  answerTurn,
  answerVectors,
  type JobContext,
  translateTurn,
  writeImages,
  writeVectorsRequest,
} from "./translation-jobs.ts";
import { unpackBody } from "./unpack-job.ts";
import { readVideoBody, writeVideoRequest } from "./video-jobs.ts";

/**
 * Each job turns a body, its options and further bytes into new bytes (null: it makes none) and an answer. All are plain values. Throws
 * Failure. The number is the size up to which it is done in place, because moving it to a thread and back costs more.
 */
const jobs = {
  // Always in a thread: a few bytes of brotli may become a megabyte, which takes milliseconds.
  unpack: [unpackBody, 0],
  read: [readBody, bounds.readInPlaceBytesMax],
  "gemini-batch": [readGeminiBatch, bounds.readInPlaceBytesMax],
  "cloud-messages": [openCloudMessages, bounds.readInPlaceBytesMax],
  assets: [readAssets, bounds.translateInPlaceBytesMax],
  "put-assets": [putAssets, bounds.translateInPlaceBytesMax],
  "put-files": [putFiles, bounds.translateInPlaceBytesMax],
  inspect: [inspectForGuardrails, guardedInPlaceBytesMax],
  patch: [patchBody, bounds.readInPlaceBytesMax],
  unseal: [patchUnsealed, bounds.unsealInPlaceBytesMax],
  govern: [leaveOut, bounds.readInPlaceBytesMax],
  // Its caller decides by the lane.
  adjust: [adjustBody, 0],
  inline: [inlineMedia, bounds.readInPlaceBytesMax],
  translate: [translateTurn, bounds.translateInPlaceBytesMax],
  images: [writeImages, bounds.translateInPlaceBytesMax],
  embeddings: [writeVectorsRequest, bounds.translateInPlaceBytesMax],
  "embeddings-answer": [answerVectors, bounds.translateReplyInPlaceBytesMax],
  reply: [readReply, bounds.replyInPlaceBytesMax],
  answer: [answerTurn, bounds.translateReplyInPlaceBytesMax],
  "image-answer": [answerImages, bounds.translateReplyInPlaceBytesMax],
  "video-body": [readVideoBody, bounds.taskBodyInPlaceBytesMax],
  "video-request": [writeVideoRequest, bounds.taskBodyInPlaceBytesMax],
} as const;

function inspectForGuardrails(body: Uint8Array, ask: InspectAsk) {
  return { made: null, answer: inspectBody(body, ask) };
}

export function inPlaceBytesMax(kind: BodyJobKind): number {
  return jobs[kind][1];
}

export type BodyJobKind = keyof typeof jobs;
export type BodyAsk<Kind extends BodyJobKind> = Parameters<(typeof jobs)[Kind][0]>[1];
export type BodyAnswer<Kind extends BodyJobKind> = ReturnType<(typeof jobs)[Kind][0]>["answer"];
export type BodyMade<Kind extends BodyJobKind> = ReturnType<(typeof jobs)[Kind][0]>["made"];

type Job<Kind extends BodyJobKind> = (
  body: Uint8Array,
  ask: BodyAsk<Kind>,
  beside: readonly Uint8Array[],
  context: JobContext,
) => { readonly made: BodyMade<Kind>; readonly answer: BodyAnswer<Kind> };

/** A job sent to a thread. */
export interface WorkOrder<Kind extends BodyJobKind = BodyJobKind> {
  readonly kind: Kind;
  readonly ask: BodyAsk<Kind>;
  readonly body: BodyBytes;
  readonly beside: readonly Uint8Array[];
}

/** The answer of a thread. It returns the body in any case. */
export interface WorkReply<Kind extends BodyJobKind = BodyJobKind> {
  readonly body: Uint8Array;
  /** `made` and `answer` are null with a failure. */
  readonly made: BodyMade<Kind> | null;
  readonly answer: BodyAnswer<Kind> | null;
  readonly warnings: readonly string[];
  readonly failure: CarriedFailure | null;
}

/** Does one job. Never throws. */
export function doBodyJob<Kind extends BodyJobKind>(
  { kind, ask, body: bytes, beside }: WorkOrder<Kind>,
  { newId }: Pick<JobContext, "newId">,
): WorkReply<Kind> {
  const body = wholeOfSpent(bytes);
  const warnings: string[] = [];
  const context: JobContext = { newId, warn: (warning) => void warnings.push(warning) };
  try {
    const [job]: readonly [Job<Kind>, number] = (
      jobs as { readonly [Each in BodyJobKind]: readonly [Job<Each>, number] }
    )[kind];
    const { made, answer } = job(body, ask, beside, context);
    return { body, made, answer, warnings, failure: null };
  } catch (thrown) {
    return { body, made: null, answer: null, warnings: [], failure: carriedFailure(asFailure(thrown)) };
  }
}

/** A failure as a message between threads. */
interface CarriedFailure extends Omit<FailureOptions, "cause" | "upstream"> {
  readonly code: FailureCode;
  readonly message: string;
  /** Name and message of an unexpected error, for the log; null: the failure is expected. */
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
