import { readRange } from "#assets/index.ts";
import { asFailure, Failure, type Task, type TaskOutput } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { type ContentOptions, openResult, streamOf } from "./open-result.ts";

/** A result on its way to its caller. `body` is pulled as the caller reads. */
export interface TaskContent {
  readonly status: 200 | 206 | 416;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * The video's bytes: our copy where there is one that can be read now, else the vendor's as long as its link lives.
 * Throws not_found, and storage_unavailable when there is a copy but neither can be read.
 */
export async function taskContent(
  dependencies: TaskDependencies,
  task: Task,
  options: ContentOptions,
  signal: AbortSignal,
): Promise<TaskContent> {
  const { output } = task;
  if (output === null)
    throw notThere(`The task has no result: it is ${task.finishedAt === null ? "not finished" : task.state}.`);
  // Only videos are copied.
  if (options.still !== null || output.blobHash === null || dependencies.blobs === null) {
    return fromVendor(dependencies, task, options, signal);
  }
  let accountFault: unknown = null;
  try {
    const copied = await fromBlob(dependencies.blobs, output, options.range);
    if (copied !== null) return copied;
  } catch (thrown) {
    accountFault = thrown;
    dependencies.observer.log("warn", "The copy of a result could not be read.", { task: task.id, error: thrown });
  }
  try {
    return await fromVendor(dependencies, task, options, signal);
  } catch (thrown) {
    // A dead link is no news where there is a copy: the caller should ask again.
    throw accountFault ?? thrown;
  }
}

/** null: the copy is gone. */
async function fromBlob(blobs: BlobStore, output: TaskOutput, rangeHeader: string | null): Promise<TaskContent | null> {
  const hash = output.blobHash ?? "";
  const info = await blobs.stat(hash);
  if (info === null) return null;
  const headers = { ...usualHeaders, "content-type": output.contentType ?? usualType, etag: `"${hash}"` };
  const range = readRange(rangeHeader, info.size);
  if (range === "unsatisfiable") {
    return { status: 416, headers: { ...headers, "content-range": `bytes */${info.size}` }, body: null };
  }
  const { start, end } = range === null ? { start: 0, end: info.size } : range;
  const body = await blobs.read(hash, start, end);
  if (body === null) return null;
  const length = { ...headers, "content-length": String(end - start) };
  if (range === null) return { status: 200, headers: length, body };
  return { status: 206, headers: { ...length, "content-range": `bytes ${start}-${end - 1}/${info.size}` }, body };
}

async function fromVendor(
  dependencies: TaskDependencies,
  task: Task,
  options: ContentOptions,
  signal: AbortSignal,
): Promise<TaskContent> {
  const answer = await openResult(dependencies, task, options, signal).catch((thrown: unknown) => {
    throw deadLink(task, asFailure(thrown), dependencies.clock.now());
  });
  const { status } = answer;
  if (status !== 200 && status !== 206 && status !== 416) {
    answer.body.cancel();
    throw status >= 500 || status === 429
      ? new Failure("upstream_error", `The upstream answered ${status} when asked for the result.`, { retry: "same" })
      : deadLink(task, new Failure("upstream_error", `it was answered with ${status}`), dependencies.clock.now());
  }
  const headers: Record<string, string> = { ...usualHeaders };
  for (const name of passedHeaders) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  headers["content-type"] ??= options.still === null ? usualType : "application/octet-stream";
  if (status !== 416) return { status, headers, body: streamOf(answer.body) };
  answer.body.cancel();
  delete headers["content-length"];
  return { status, headers, body: null };
}

/** What the caller hears when a link does not serve: that, and whether its time was over. */
function deadLink(task: Task, failure: Failure, now: number): Failure {
  if (failure.code === "client_closed" || failure.code === "upstream_timeout") return failure;
  const expiresAt = task.output?.expiresAt ?? null;
  if (failure.code === "unsupported_by_model") return failure;
  if (expiresAt !== null && now >= expiresAt * 1_000) {
    return notThere(`The upstream's link to the result expired at ${new Date(expiresAt * 1_000).toISOString()}.`);
  }
  return notThere("The upstream's link to the result is dead.", failure);
}

function notThere(message: string, cause?: unknown): Failure {
  return new Failure("not_found", message, { cause });
}

/** Nothing else of what the vendor's host says is for our callers. */
const passedHeaders = ["content-type", "content-length", "content-range", "etag", "last-modified"] as const;

const usualHeaders = { "accept-ranges": "bytes", "cache-control": "private, no-store" };
const usualType = "video/mp4";
