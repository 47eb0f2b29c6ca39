import { Failure, statesShownAs, type Task, type TaskState, taskIdOf } from "#core/index.ts";
import { taskAnswer } from "#tasks/index.ts";
import { authenticated } from "../authenticated.ts";
import { readJsonBody, readJsonPieces } from "../body.ts";
import { callbackBody, videoBody } from "../body-rules.ts";
import type { Endpoint, Exchange, Face } from "../face.ts";
import { originOf } from "../origin.ts";
import { askPage, pageAnswer } from "../page-query.ts";
import { idInPath, requireId } from "../path-ids.ts";
import { json } from "../respond.ts";
import { sendVideo } from "../send-video.ts";
import { startVideo } from "../start-video.ts";

export const videoTasksPath = "/v1/video/tasks";

/** POST /v1/video/tasks: starts a task. `Idempotency-Key` makes a repetition find the same one. */
export const createVideoTask: Endpoint = (face, exchange) =>
  startVideo(face, exchange, {
    read: async (place) => ({ bytes: await readJsonPieces(face, exchange, place, videoBody), openai: null }),
    answer: (task) => answer(face, exchange, task),
    told: (failure) => failure,
  });

/** GET /v1/video/tasks: the workspace's tasks, newest first; `?status=` and `?model=` filter. */
export const listVideoTasks: Endpoint = async (face, exchange) => {
  const principal = await authenticated(face, exchange);
  const query = new URLSearchParams(exchange.query);
  const status = query.get("status");
  const model = query.get("model");
  const filter = {
    workspaceId: principal.workspace.id,
    ...(model === null ? {} : { model }),
    ...(status === null ? {} : { states: statesOf(status) }),
  };
  const { tasks, next } = await askPage(query, (after, limit) => face.videos.page(filter, after, limit));
  const origin = originOf(face, exchange);
  const data = tasks.map((task) => taskAnswer(task, origin));
  return json(pageAnswer(data, next), exchange.requestId);
};

/** GET /v1/video/tasks/{id}: its state; a stale one is refreshed. */
export const getVideoTask: Endpoint = async (face, exchange) => {
  const principal = await authenticated(face, exchange);
  return answer(face, exchange, await face.videos.get(principal.workspace.id, taskId(exchange)));
};

/** DELETE /v1/video/tasks/{id}: cancels it where its vendor can. */
export const cancelVideoTask: Endpoint = async (face, exchange) => {
  const principal = await authenticated(face, exchange);
  return answer(face, exchange, await face.videos.cancel(principal.workspace.id, taskId(exchange)));
};

/** GET /v1/video/tasks/{id}/content: the video's bytes; ranges are understood. */
export const videoContent: Endpoint = async (face, exchange) => {
  const principal = await authenticated(face, exchange);
  return await sendVideo(face, exchange, principal, { id: taskId(exchange), still: null });
};

/**
 * POST /v1/video/callbacks/{id}/{token}: a vendor says that something happened. It is only a hint to look, and its body is
 * read only when the token is right.
 */
export const videoCallback: Endpoint = async (face, exchange) => {
  const { id, part } = idInPath(exchange.path, callbacksPath);
  const place = face.bodyRoom.open();
  try {
    const readBody = (): Promise<Uint8Array> => readJsonBody(face, exchange, place, callbackBody);
    const heard = await face.videos.hint(requireId(id, "vt_", "task_not_found"), part ?? "", readBody);
    if (!heard) throw new Failure("task_not_found", "There is no task to be told of here.");
    return new Response(null, { status: 204, headers: { "x-request-id": exchange.requestId } });
  } finally {
    place.release();
  }
};

export const callbacksPath = "/v1/video/callbacks/";

function taskId({ path }: Exchange): string {
  return requireId(taskIdOf(idInPath(path, `${videoTasksPath}/`).id), "vt_", "task_not_found");
}

function answer(face: Face, exchange: Exchange, task: Task): Response {
  return json(taskAnswer(task, originOf(face, exchange)), exchange.requestId);
}

function statesOf(status: string): readonly TaskState[] {
  const shown = shownStates.find((one) => one === status);
  if (shown !== undefined) return statesShownAs(shown);
  throw new Failure("invalid_request", `status must be one of ${shownStates.join(", ")}.`, { param: "status" });
}

const shownStates = ["queued", "running", "succeeded", "failed", "cancelled", "expired"] as const;
