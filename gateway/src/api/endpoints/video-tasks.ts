import {
  asFailure,
  bounds,
  Failure,
  type Model,
  type Principal,
  statesShownAs,
  type Task,
  type TaskState,
} from "#core/index.ts";
import { type CreateCall, type TaskBody, taskAnswer } from "#tasks/index.ts";
import { authenticated } from "../authenticated.ts";
import { mayBeLarge, readJsonBody } from "../body.ts";
import type { BodyPlace } from "../body-room.ts";
import { callbackBody, videoBody } from "../body-rules.ts";
import type { Endpoint, Exchange, Face } from "../face.ts";
import { callableModels } from "../model-call.ts";
import { originOf } from "../origin.ts";
import { askPage, pageAnswer } from "../page-query.ts";
import { idInPath, requireId } from "../path-ids.ts";
import { captureOf, type RequestCapture } from "../request-capture.ts";
import { json, renderFailure } from "../respond.ts";
import { readTags } from "../tags.ts";
import { modelNotFound } from "./models.ts";

export const videoTasksPath = "/v1/video/tasks";

/** POST /v1/video/tasks: starts a task. `Idempotency-Key` makes a repetition find the same one. */
export const createVideoTask: Endpoint = async (face, exchange) => {
  const principal = await authenticated(face, exchange);
  exchange.patient();
  if (mayBeLarge(exchange.request)) await face.videos.check(principal);
  const place = face.bodyRoom.open();
  let asked: Asked;
  try {
    asked = await readAsked(face, exchange, principal, place);
  } catch (thrown) {
    place.release();
    throw thrown;
  }
  return await create(face, exchange, { ...asked, principal, place });
};

interface Asked {
  readonly body: TaskBody;
  readonly model: string;
  readonly models: readonly Model[];
  readonly capture: RequestCapture | null;
  readonly tags: CreateCall["tags"];
  readonly idempotencyKey: string | null;
}

/** Nothing but its material is held of the body when this is over. */
async function readAsked(face: Face, exchange: Exchange, principal: Principal, place: BodyPlace): Promise<Asked> {
  const { request } = exchange;
  const bytes = await readJsonBody(face, exchange, place, videoBody);
  const size = bytes.length;
  const { body, sent } = await face.videos.read(bytes, request.signal);
  const model = body.value["model"];
  if (model === undefined || model === "") {
    throw new Failure("missing_required_parameter", 'The parameter "model" is missing.', { param: "model" });
  }
  if (typeof model !== "string") {
    throw new Failure("invalid_request", 'The parameter "model" must be a string.', { param: "model" });
  }
  exchange.seen.model = model;
  const models = callableModels(face.catalog(), principal, model);
  if (models.length === 0) throw modelNotFound(model.slice(0, bounds.modelNameBytesMax));
  const tags = readTags(request.headers, principal);
  const idempotencyKey = readIdempotencyKey(request.headers);
  const capture = captureOf(face, exchange, { principal, body: sent, models });
  place.hold(body.material?.size ?? Math.min(size, body.text.length));
  return { body, model, models, capture, tags, idempotencyKey };
}

async function create(
  face: Face,
  exchange: Exchange,
  { place, capture, ...asked }: Asked & { readonly principal: Principal; readonly place: BodyPlace },
): Promise<Response> {
  const { request, requestId } = exchange;
  const userAgent = (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax);
  try {
    const call: CreateCall = { ...asked, requestId, userAgent, held: place, signal: request.signal };
    const response = answer(face, exchange, await face.videos.create(call));
    await capture?.answered(response);
    return response;
  } catch (thrown) {
    await capture?.answered(renderFailure(asFailure(thrown), requestId));
    throw thrown;
  }
}

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
  const { request, requestId } = exchange;
  const principal = await authenticated(face, exchange);
  const id = taskId(exchange);
  exchange.patient();
  const range = request.headers.get("range");
  const content = await face.videos.content(principal.workspace.id, id, range, request.signal);
  // Of a HEAD only the headers are wanted: the bytes are let go of unread.
  const wanted = request.method !== "HEAD";
  if (!wanted) await content.body?.cancel();
  return new Response(wanted ? content.body : null, {
    status: content.status,
    headers: { ...content.headers, "x-request-id": requestId },
  });
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
  return requireId(idInPath(path, `${videoTasksPath}/`).id, "vt_", "task_not_found");
}

function answer(face: Face, exchange: Exchange, task: Task): Response {
  return json(taskAnswer(task, originOf(face, exchange)), exchange.requestId);
}

function readIdempotencyKey(headers: Headers): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || key === "") return null;
  if (key.length <= bounds.affinityBytesMax) return key;
  throw new Failure("invalid_request", `Idempotency-Key is longer than ${bounds.affinityBytesMax} characters.`, {
    param: "Idempotency-Key",
  });
}

function statesOf(status: string): readonly TaskState[] {
  const shown = shownStates.find((one) => one === status);
  if (shown !== undefined) return statesShownAs(shown);
  throw new Failure("invalid_request", `status must be one of ${shownStates.join(", ")}.`, { param: "status" });
}

const shownStates = ["queued", "running", "succeeded", "failed", "cancelled", "expired"] as const;
