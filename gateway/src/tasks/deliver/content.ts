import { type BlobAnswer, blobAnswer } from "#assets/index.ts";
import { asFailure, bounds, Failure, type Provider, pulledStream, type Task, type TaskOutput } from "#core/index.ts";
import type { AnswerBody, BlobStore, OutboundAnswer } from "#ports/index.ts";
import { mayReachPrivate, type VideoStill } from "#providers/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { AccountProviders } from "../upstream-call.ts";
import { videoKindOf } from "../video-lanes.ts";

type ContentDependencies = FileDependencies & Pick<VideoTasksOptions, "blobs" | "observer">;

/**
 * The bytes of a video: our copy if it can be read, otherwise the vendor's file while its link is valid. Throws not_found,
 * or storage_unavailable if neither can be read.
 */
export async function taskContent(
  dependencies: ContentDependencies,
  task: Task,
  options: ContentOptions,
  signal: AbortSignal,
): Promise<BlobAnswer> {
  const { output } = task;
  if (output === null)
    throw notFound(`The task has no result: it is ${task.finishedAt === null ? "not finished" : task.state}.`);
  // Only videos are copied.
  if (options.still !== null || output.blobHash === null || dependencies.blobs === null) {
    return fromVendor(dependencies, task, options, signal);
  }
  let copyFault: unknown = null;
  try {
    const copied = await fromBlob(dependencies.blobs, output, options.range);
    if (copied !== null) return copied;
  } catch (thrown) {
    copyFault = thrown;
    dependencies.observer.log("warn", "failed to read the copy of a result", { task: task.id, error: thrown });
  }
  try {
    return await fromVendor(dependencies, task, options, signal);
  } catch (thrown) {
    // Report the storage fault: the copy can be read later, the link cannot.
    throw copyFault ?? thrown;
  }
}

/** null: the copy was deleted. */
async function fromBlob(blobs: BlobStore, output: TaskOutput, range: string | null): Promise<BlobAnswer | null> {
  const hash = output.blobHash ?? "";
  const info = await blobs.stat(hash);
  if (info === null) return null;
  const copy = { ...info, type: output.contentType ?? usualType };
  const answer = await blobAnswer(blobs, copy, range, { ...usualHeaders, etag: `"${hash}"` });
  return answer.status === 404 ? null : answer;
}

async function fromVendor(
  dependencies: ContentDependencies,
  task: Task,
  options: ContentOptions,
  signal: AbortSignal,
): Promise<BlobAnswer> {
  const answer = await openResult(dependencies, task, options, signal).catch((thrown: unknown) => {
    throw deadLink(task, asFailure(thrown), dependencies.clock.now());
  });
  const { status } = answer;
  if (status !== 200 && status !== 206 && status !== 416) {
    answer.body.cancel();
    throw status >= 500 || status === 429
      ? new Failure("upstream_error", `The upstream answered ${status} to the request for the result.`, {
          retry: "same",
        })
      : deadLink(task, new Failure("upstream_error", `status ${status}`), dependencies.clock.now());
  }
  const headers: Record<string, string> = { ...usualHeaders };
  for (const name of forwardedHeaders) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  headers["content-type"] ??= options.still === null ? usualType : "application/octet-stream";
  if (status !== 416) return { status, headers, body: streamOf(answer.body) };
  answer.body.cancel();
  delete headers["content-length"];
  return { status, headers, body: null };
}

function deadLink(task: Task, failure: Failure, now: number): Failure {
  if (failure.code === "client_closed" || failure.code === "upstream_timeout") return failure;
  const expiresAt = task.output?.expiresAt ?? null;
  if (failure.code === "unsupported_by_model") return failure;
  if (expiresAt !== null && now >= expiresAt * 1_000) {
    return notFound(`The upstream's link to the result expired at ${new Date(expiresAt * 1_000).toISOString()}.`);
  }
  return notFound("The upstream's link to the result is dead.", failure);
}

function notFound(message: string, cause?: unknown): Failure {
  return new Failure("not_found", message, { cause });
}

const forwardedHeaders = ["content-type", "content-length", "content-range", "etag", "last-modified"] as const;

const usualHeaders = { "accept-ranges": "bytes", "cache-control": "private, no-store" };
const usualType = "video/mp4";

/** Bounds for a download: redirects, time to the first byte, total time. */
const resultRedirectsMax = 3;
const resultHeadersMs = 30_000;
const resultTotalMs = 3_600_000;

/** A byte range of the video, or a still picture of it. */
export interface ContentOptions {
  readonly range: string | null;
  readonly still: VideoStill | null;
}

export interface FileDependencies extends Pick<VideoTasksOptions, "providerClient" | "transport" | "clock"> {
  readonly accounts: AccountProviders;
}

/**
 * Opens the vendor's file, with the account's credential if it needs one. Redirects pass the address guard and never carry
 * the credential. Throws Failure.
 */
export async function openResult(
  dependencies: FileDependencies,
  task: Task,
  { range, still }: ContentOptions,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { account, output } = task;
  if (account === null || output === null) throw new Failure("not_found", "The task has no result.");
  const provider = dependencies.accounts.providerOf(account);
  const rangeHeader = range === null ? {} : { range };
  let request = await firstRequest(dependencies, provider, task, still, signal);
  for (let redirects = 0; redirects <= resultRedirectsMax; redirects++) {
    const answer = await dependencies.transport.send(
      {
        method: "GET",
        url: request.url,
        headers: { ...request.headers, ...rangeHeader },
        body: null,
        connectMs: bounds.taskPollConnectMs,
        headersMs: resultHeadersMs,
        totalMs: resultTotalMs,
        allowPrivateNetwork: mayReachPrivate(provider, request.url),
      },
      signal,
    );
    const location = answer.headers.get("location");
    if (answer.status < 300 || answer.status > 399 || location === null) return checkMedia(answer);
    answer.body.cancel();
    if (!URL.canParse(location, request.url)) break;
    const next = new URL(location, request.url);
    if (next.protocol === "http:" && request.url.startsWith("https:")) break;
    request = { url: next.href, headers: defaultHeaders };
  }
  throw new Failure("upstream_error", "The upstream's link has too many redirects, or an unusable one.");
}

/** Some hosts answer a dead link with 200 and a text page. */
function checkMedia(answer: OutboundAnswer): OutboundAnswer {
  const isGood = answer.status === 200 || answer.status === 206;
  if (!isGood || !textTypes.test(answer.headers.get("content-type") ?? "")) return answer;
  answer.body.cancel();
  throw new Failure("upstream_error", "The upstream's link returned text instead of a video.");
}

const textTypes = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;

const defaultHeaders: Readonly<Record<string, string>> = { accept: "*/*", "user-agent": "sluice" };

async function firstRequest(
  { providerClient }: FileDependencies,
  provider: Provider,
  task: Task,
  still: VideoStill | null,
  signal: AbortSignal,
): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
  const url = task.output?.videoUrl ?? "";
  const found = videoKindOf(provider.kind);
  const { adapter } = found ?? {};
  const draft = still === null ? adapter?.content?.(provider, url) : adapter?.still?.(provider, url, still);
  if (still !== null && draft === undefined) {
    const message = `The upstream of the model "${task.model}" provides no ${still}.`;
    throw new Failure("unsupported_by_model", message, { param: "variant" });
  }
  if (found === null || draft === undefined) return { url, headers: defaultHeaders };
  await providerClient.authorize(found.kind, draft, signal);
  return { url: draft.url, headers: { ...defaultHeaders, ...draft.headers } };
}

/** Idle timeout while reading a result. */
const resultIdleMs = 60_000;

export function streamOf(body: AnswerBody): ReadableStream<Uint8Array> {
  return pulledStream(
    () => body.read("idle", resultIdleMs),
    () => body.cancel(),
  );
}
