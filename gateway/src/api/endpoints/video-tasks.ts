import { wholeOf } from "#bodies/index.ts";
import {
  abortSignalOf,
  anonymousOwner,
  Failure,
  type Principal,
  statesShownAs,
  type TaskState,
  taskIdOf,
} from "#core/index.ts";
import { type ContentOptions, taskAnswer } from "#tasks/index.ts";
import { authenticated, withKey } from "../authenticated.ts";
import { callbackBody, readJsonPieces, videoBody } from "../body.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { idBehind, originOf, pageAnswer, readPage, requireId } from "../request-parts.ts";
import { json } from "../respond.ts";
import { startVideo } from "../start-video.ts";

/** POST /v1/video/tasks: starts a task. A repeated `Idempotency-Key` returns the first task. */
export const createVideoTask: Endpoint = (dependencies, exchange) =>
  startVideo(dependencies, exchange, {
    read: async (place) => ({ bytes: await readJsonPieces(dependencies, exchange, place, videoBody), openai: null }),
    answer: (task) => json(taskAnswer(task, originOf(dependencies, exchange)), exchange.requestId),
    rename: (failure) => failure,
  });

/** GET /v1/video/tasks: the workspace's tasks, newest first; `?status=` and `?model=` filter. */
export const listVideoTasks = withKey(async (dependencies, exchange, principal) => {
  const query = new URLSearchParams(exchange.query);
  const status = query.get("status");
  const model = query.get("model");
  const filter = {
    workspaceId: principal.workspace.id,
    ...(model === null ? {} : { model }),
    ...(status === null ? {} : { states: statesOf(status) }),
  };
  const { tasks, next } = await readPage(query, (after, limit) => dependencies.videos.page(filter, after, limit));
  const origin = originOf(dependencies, exchange);
  return pageAnswer(
    tasks.map((task) => taskAnswer(task, origin)),
    next,
  );
});

/** GET /v1/video/tasks/{id}: the task, refreshed if it is stale. */
export const getVideoTask = withKey(async (dependencies, exchange, { workspace }) => {
  const task = await dependencies.videos.get(workspace.id, taskId(exchange));
  return taskAnswer(task, originOf(dependencies, exchange));
});

/** DELETE /v1/video/tasks/{id}: cancels the task if its vendor supports that. */
export const cancelVideoTask = withKey(async (dependencies, exchange, { workspace }) => {
  const task = await dependencies.videos.cancel(workspace.id, taskId(exchange));
  return taskAnswer(task, originOf(dependencies, exchange));
});

/** GET /v1/video/tasks/{id}/content: the video's bytes; supports ranges. */
export const videoContent: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  return await sendVideo(dependencies, exchange, principal, taskId(exchange), null);
};

/**
 * POST /v1/video/callbacks/{id}/{token}: a vendor reports a change. It only triggers a poll, and the body is read only with a valid
 * token.
 */
export const videoCallback: Endpoint = async (dependencies, exchange) => {
  const [id = "", token = ""] = exchange.path.slice("/v1/video/callbacks/".length).split("/");
  const place = dependencies.memory.open(anonymousOwner(exchange.address()), "request");
  try {
    const readBody = async () => wholeOf(await readJsonPieces(dependencies, exchange, place, callbackBody));
    const found = await dependencies.videos.handleCallback(requireId(id, "vt_", "task_not_found"), token, readBody);
    if (!found) throw new Failure("task_not_found", "There is no task for this callback.");
    return new Response(null, { status: 204, headers: { "x-request-id": exchange.requestId } });
  } finally {
    place.release();
  }
};

function taskId(exchange: Exchange): string {
  return requireId(taskIdOf(idBehind("/v1/video/tasks/", exchange)), "vt_", "task_not_found");
}

function statesOf(status: string): readonly TaskState[] {
  const shown = shownStates.find((one) => one === status);
  if (shown !== undefined) return statesShownAs(shown);
  throw new Failure("invalid_request", `status must be one of ${shownStates.join(", ")}.`, { param: "status" });
}

const shownStates = ["queued", "running", "succeeded", "failed", "cancelled", "expired"] as const;

/** The bytes, or the requested range, of a video or of a still of it. */
export async function sendVideo(
  dependencies: ApiDependencies,
  { request, requestId }: Exchange,
  { workspace }: Principal,
  id: string,
  still: ContentOptions["still"],
): Promise<Response> {
  const options = { range: request.headers.get("range"), still };
  const content = await dependencies.videos.content(workspace.id, id, options, abortSignalOf(request.signal));
  const isHead = request.method === "HEAD";
  if (isHead) await content.body?.cancel();
  return new Response(isHead ? null : content.body, {
    status: content.status,
    headers: { ...content.headers, "x-request-id": requestId },
  });
}
