import { bounds, Failure, type Provider, type Task } from "#core/index.ts";
import type { AnswerBody, OutboundAnswer } from "#ports/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";
import { mayReachPrivate, type VideoStill } from "#providers/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { Accounts } from "../upstream-call.ts";
import { videoKindOf } from "../video-lane-match.ts";

/** Redirects, the wait for a first byte, and the whole. */
const resultMovesMax = 3;
const resultHeadersMs = 30_000;
const resultTotalMs = 3_600_000;

/** What of a result is wanted: a part of its bytes, or a picture of it. */
export interface ContentOptions {
  readonly range: string | null;
  readonly still: VideoStill | null;
}

export interface FileDependencies extends Pick<VideoTasksOptions, "providerClient" | "transport" | "clock"> {
  readonly accounts: Accounts;
}

/**
 * Opens the vendor's own file. Where it needs the account's credential it gets it; a redirect is followed a few times, each
 * time through the guard, and never with the credential. Throws Failure.
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
  const asked = range === null ? {} : { range };
  let request = await firstRequest(dependencies, task, { provider, still }, signal);
  for (let moves = 0; moves <= resultMovesMax; moves++) {
    const answer = await dependencies.transport.send(
      {
        method: "GET",
        url: request.url,
        headers: { ...request.headers, ...asked },
        body: null,
        ...resultClocks,
        allowPrivateNetwork: mayReachPrivate(provider, request.url),
      },
      signal,
    );
    const location = answer.headers.get("location");
    if (answer.status < 300 || answer.status > 399 || location === null) return asFile(answer);
    answer.body.cancel();
    if (!URL.canParse(location, request.url)) break;
    const next = new URL(location, request.url);
    if (next.protocol === "http:" && request.url.startsWith("https:")) break;
    request = { url: next.href, headers: plainHeaders };
  }
  throw new Failure("upstream_error", "The upstream's link moves too often, or to where nothing is fetched from.");
}

/** What hosts say of a dead link in a good answer is a page or a message: never a result, nor worth a copy. */
function asFile(answer: OutboundAnswer): OutboundAnswer {
  const isGood = answer.status === 200 || answer.status === 206;
  if (!isGood || !isWords.test(answer.headers.get("content-type") ?? "")) return answer;
  answer.body.cancel();
  throw new Failure("upstream_error", "Behind the upstream's link there is text in place of a video.");
}

const isWords = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;

const resultClocks: RequestClocks = {
  connectMs: bounds.taskPollConnectMs,
  headersMs: resultHeadersMs,
  totalMs: resultTotalMs,
};

const plainHeaders: Readonly<Record<string, string>> = { accept: "*/*", "user-agent": "sluice" };

interface FileRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function firstRequest(
  dependencies: FileDependencies,
  task: Task,
  { provider, still }: { readonly provider: Provider; readonly still: VideoStill | null },
  signal: AbortSignal,
): Promise<FileRequest> {
  const url = task.output?.videoUrl ?? "";
  const found = videoKindOf(provider.kind);
  const { adapter } = found ?? {};
  const draft = still === null ? adapter?.content?.(provider, url) : adapter?.still?.(provider, url, still);
  if (still !== null && draft === undefined) {
    throw new Failure(
      "unsupported_by_model",
      `The upstream of the model "${task.model}" makes no ${still} of a video.`,
      {
        param: "variant",
      },
    );
  }
  if (found === null || draft === undefined) return { url, headers: plainHeaders };
  await dependencies.providerClient.authorize(found.kind, draft, signal);
  return { url: draft.url, headers: { ...plainHeaders, ...draft.headers } };
}

/** Silence between two pieces of a result. */
const resultIdleMs = 60_000;

/** Read no faster than the caller does; a caller that goes away ends it. */
export function streamOf(body: AnswerBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await body.read("idle", resultIdleMs);
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
}
