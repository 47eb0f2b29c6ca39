import { bounds, Failure } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { classifyByStatus, type RefusalReading } from "../classify-by-status.ts";
import type { GoodAnswer } from "../video-adapter.ts";

/** The object that a look at a task was answered with. Throws Failure upstream_error, which ends no task. */
export function answerObject(answer: GoodAnswer): JsonObject {
  const value = parse(answer.body);
  if (value === null) throw noAnswer();
  return value;
}

/** The object that a creation was answered with; throws Failure upstream_truncated when nobody can tell what came of it. */
export function createdObject(answer: GoodAnswer): JsonObject {
  const value = parse(answer.body);
  if (value === null) throw noTaskNamed();
  return value;
}

/** A new task's name at its vendor. Throws Failure upstream_truncated when there is none that could be asked about. */
export function createdId(value: unknown): { readonly upstreamId: string } {
  const upstreamId = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof upstreamId !== "string" || !isName(upstreamId)) throw noTaskNamed();
  return { upstreamId };
}

/** For what may be JSON and yet is no answer to a look at a task. */
export function noAnswer(): Failure {
  return new Failure("upstream_error", "The upstream's answer does not say how the task is.", { retry: "same" });
}

/**
 * A refusal inside a 2xx, judged as the status would be that the vendor did not use. Trouble of the vendor's own (5xx) is no
 * refusal: what was asked for may have been done.
 */
export function refusalInside(answer: GoodAnswer, status: number, reading: RefusalReading = {}): Failure {
  const contentType = answer.headers.get("content-type") ?? "application/json";
  const headers = new Headers({ "content-type": contentType });
  const failure = classifyByStatus({ status, headers, body: answer.body, now: 0 }, reading);
  return status >= 500 ? failure.with({ arrival: "unknown" }) : failure;
}

function noTaskNamed(): Failure {
  return new Failure("upstream_truncated", "The upstream's answer names no task.", { retry: "never" });
}

/** It becomes part of a path: nothing in it may lead out of the place where it is put. */
function isName(text: string): boolean {
  return text.length > 0 && text.length <= bounds.upstreamIdCharactersMax && !/\.\.|[\s?#\\]/.test(text);
}

function parse(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(decoder.decode(body));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const decoder = new TextDecoder();

/** The task that a callback's body names under `member`; null when it names none. Anybody may have sent it. */
export function callbackId(body: Uint8Array, member: string): { readonly upstreamId: string } | null {
  try {
    return createdId(createdObject({ status: 200, headers: new Headers(), body })[member]);
  } catch {
    return null;
  }
}
