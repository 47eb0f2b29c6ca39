import { type BodyBytes, type OpenAiVideoBody, outcomeOf } from "#bodies/index.ts";
import { Failure } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import { isObject, type JsonObject, type RenamedMembers } from "#protocols/index.ts";
import type { VideoTasksOptions } from "../options.ts";

/** The body of a task as it was read: small, whatever its caller sent. */
export interface TaskBody {
  /** Of the task that is made of it. */
  readonly taskId: string;
  /** JSON; marks stand in it for material that is kept apart. */
  readonly text: string;
  readonly value: JsonObject;
  /** The same for the same request: see the job that reads it. */
  readonly digest: string;
  /** What the caller called members of it, where that is another name. */
  readonly renamed: RenamedMembers;
  /** null: it holds little or none, and is whole. */
  readonly material: (BlobInfo & { readonly bytes: Uint8Array }) | null;
}

/** A body as it came. */
export interface SentBody {
  readonly bytes: BodyBytes;
  /** null: its members are a task's own, in JSON. */
  readonly openai: OpenAiVideoBody | null;
}

export interface ReadBody {
  readonly body: TaskBody;
  /** What was given, to be used from now on in its place. */
  readonly sent: Uint8Array;
}

/**
 * Reads a body, a large one in a thread: what it costs is its sender's choice. Throws Failure invalid_json and
 * request_too_large, and what stands in the way of threads.
 */
export async function readTaskBody(
  { bodies, blobs }: Pick<VideoTasksOptions, "bodies" | "blobs">,
  taskId: string,
  { bytes, openai }: SentBody,
  signal: AbortSignal | null,
): Promise<ReadBody> {
  const worked = await bodies.do("video-body", { taskId, apart: blobs !== null, openai }, bytes, { signal });
  const { made, answer } = outcomeOf(worked);
  const { text, digest, renamed, material } = answer;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Failure("invalid_json", "The body is not a JSON object.");
  const kept = material === null || made === null ? null : { ...material, bytes: made };
  return { body: { taskId, text, value, digest, renamed, material: kept }, sent: worked.body };
}
