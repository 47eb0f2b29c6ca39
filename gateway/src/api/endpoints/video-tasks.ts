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
import { callbackBody, readJsonBody, readJsonPieces, videoBody } from "../body.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { askPage, idBehind, originOf, pageAnswer, requireId } from "../request-parts.ts";
import { json } from "../respond.ts";
import { startVideo } from "../start-video.ts";

/** POST /v1/video/tasks: starts a task. `Idempotency-Key` makes a repetition find the same one. */
export const createVideoTask: Endpoint = (dependencies, exchange) =>
  startVideo(dependencies, exchange, {
    read: async (place) => ({ bytes: await readJsonPieces(dependencies, exchange, place, videoBody), openai: null }),
    answer: (task) => json(taskAnswer(task, originOf(dependencies, exchange)), exchange.requestId),
    told: (failure) => failure,
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
  const { tasks, next } = await askPage(query, (after, limit) => dependencies.videos.page(filter, after, limit));
  const origin = originOf(dependencies, exchange);
  const data = tasks.map((task) => taskAnswer(task, origin));
  return pageAnswer(data, next);
});

/** GET /v1/video/tasks/{id}: its state; a stale one is refreshed. */
export const getVideoTask = withKey(async (dependencies, exchange, { workspace }) => {
  const task = await dependencies.videos.get(workspace.id, taskId(exchange));
  return taskAnswer(task, originOf(dependencies, exchange));
});

/** DELETE /v1/video/tasks/{id}: cancels it where its vendor can. */
export const cancelVideoTask = withKey(async (dependencies, exchange, { workspace }) => {
  const task = await dependencies.videos.cancel(workspace.id, taskId(exchange));
  return taskAnswer(task, originOf(dependencies, exchange));
});

/** GET /v1/video/tasks/{id}/content: the video's bytes; ranges are understood. */
export const videoContent: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  return await sendVideo(dependencies, exchange, principal, { id: taskId(exchange), still: null });
};

/**
 * POST /v1/video/callbacks/{id}/{token}: a vendor says that something happened. It is only a hint to look, and its body is
 * read only when the token is right.
 */
export const videoCallback: Endpoint = async (dependencies, exchange) => {
  const [id = "", token = ""] = exchange.path.slice("/v1/video/callbacks/".length).split("/");
  const place = dependencies.memory.open(anonymousOwner(exchange.address()), "request");
  try {
    const readBody = (): Promise<Uint8Array> => readJsonBody(dependencies, exchange, place, callbackBody);
    const heard = await dependencies.videos.handleCallback(requireId(id, "vt_", "task_not_found"), token, readBody);
    if (!heard) throw new Failure("task_not_found", "There is no task to be told of here.");
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

/** The bytes of a video or of a picture of it, or the part of them that is asked for, as its caller reads them. */
export async function sendVideo(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
  { id, still }: { readonly id: string } & Pick<ContentOptions, "still">,
): Promise<Response> {
  const { request, requestId } = exchange;
  exchange.patient();
  const range = request.headers.get("range");
  const content = await dependencies.videos.content(
    principal.workspace.id,
    id,
    { range, still },
    abortSignalOf(request.signal),
  );
  // Of a HEAD only the headers are wanted: the bytes are let go of unread.
  const wanted = request.method !== "HEAD";
  if (!wanted) await content.body?.cancel();
  return new Response(wanted ? content.body : null, {
    status: content.status,
    headers: { ...content.headers, "x-request-id": requestId },
  });
}
