import { sizeOf } from "#bodies/index.ts";
import { Failure, finalTaskStates, type HeldMemory, type Task, taskIdOf, videoIdOf } from "#core/index.ts";
import { type RemixedVideo, type RenamedMembers, readMultipartType, videoObject } from "#protocols/index.ts";
import { type ContentOptions, pollAfterMs, type SentBody } from "#tasks/index.ts";
import { authenticated, withKey } from "../authenticated.ts";
import { isJsonType, readJsonPieces, readPieces, videoBody } from "../body.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { jsonOrForm } from "../form-call.ts";
import { askPage, idBehind, requireId } from "../request-parts.ts";
import { json } from "../respond.ts";
import { startVideo } from "../start-video.ts";
import { sendVideo } from "./video-tasks.ts";

/*
 * OpenAI's videos: the tasks of /v1/video/tasks, asked for and shown in OpenAI's way. `video_…` and `vt_…` are one task, and
 * either name is understood at both.
 */
export const createVideo: Endpoint = (dependencies, exchange) =>
  startVideo(dependencies, exchange, {
    read: (place) => readAsked(dependencies, exchange, place, null),
    answer: (task) => answer(exchange, task),
    told: inTheirWords,
  });

/** DELETE /v1/videos/{id}: for good; one that is still being made is cancelled first, where its vendor can. */
export const deleteVideo = withKey(async (dependencies, exchange, principal) => {
  const id = await ofVideo(exchange, async (taskId) => {
    await dependencies.videos.remove(principal.workspace.id, taskId);
    return videoIdOf(taskId);
  });
  return { id, object: "video.deleted", deleted: true };
});

/** POST /v1/videos/{id}/remix: the same video with other words, where its vendor makes such. */
export const remixVideo: Endpoint = (dependencies, exchange) =>
  startVideo(dependencies, exchange, {
    read: async (place, principal) => {
      const { id: taskId, model } = await ofVideo(exchange, (id) =>
        dependencies.videos.get(principal.workspace.id, id),
      );
      return await readAsked(dependencies, exchange, place, { taskId, model });
    },
    answer: (task) => answer(exchange, task),
    told: (failure, renamed) =>
      failure.param === "remix_of" ? failure.with({ param: "video_id" }) : inTheirWords(failure, renamed),
  });

/** GET /v1/videos: the workspace's videos, those of every key and of both faces; `limit`, `after`, `order`. */
export const listVideos = withKey(async (dependencies, exchange, principal) => {
  const workspaceId = principal.workspace.id;
  const query = new URLSearchParams(exchange.query);
  const filter = { workspaceId, oldestFirst: isOldestFirst(query.get("order")) };
  const { tasks, next } = await askPage(query, async (after, limit) => {
    const place = after === null ? null : await dependencies.videos.findPosition(workspaceId, taskIdOf(after));
    if (after !== null && place === null)
      throw new Failure("invalid_request", "There is no such video.", { param: "cursor" });
    return dependencies.videos.page(filter, place, limit);
  });
  const data = tasks.map(videoObject);
  const ids = tasks.map(({ id }) => videoIdOf(id));
  return { object: "list", data, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: next !== null };
});

export const getVideo: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const task = await ofVideo(exchange, (id) => dependencies.videos.get(principal.workspace.id, id));
  return answer(exchange, task);
};

/** GET /v1/videos/{id}/content: the bytes of the video or, as `variant` says, of a picture of it; ranges are understood. */
export const videosContent: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const still = readStill(new URLSearchParams(exchange.query).get("variant"));
  return await ofVideo(exchange, (id) => sendVideo(dependencies, exchange, principal, { id, still }));
};

/** What OpenAI has beyond this: said to be missing, to callers who may be here. */
export const notOffered: Endpoint = async (dependencies, exchange) => {
  await authenticated(dependencies, exchange);
  throw new Failure(
    "invalid_request",
    `This gateway does not offer ${exchange.request.method} ${exchange.path.slice(0, pathShownMax)}: of OpenAI's videos it has create, retrieve, list, delete, content and remix.`,
  );
};

const pathShownMax = 64;

async function readAsked(
  dependencies: ApiDependencies,
  exchange: Exchange,
  place: HeldMemory,
  remix: RemixedVideo | null,
): Promise<SentBody> {
  const contentType = exchange.request.headers.get("content-type");
  if (isJsonType(contentType)) {
    return { bytes: await readJsonPieces(dependencies, exchange, place, videoBody), openai: { boundary: null, remix } };
  }
  const { boundary } = readMultipartType(contentType, jsonOrForm);
  const bytes = await readPieces(dependencies, exchange, place, videoBody);
  place.hold(Math.ceil(sizeOf(bytes) * asJson));
  return { bytes, openai: { boundary, remix } };
}

/** A file, and the same again in base64. */
const asJson = 7 / 3;

/** `openai-poll-after-ms` is how long OpenAI's clients wait before they look again. */
function answer({ requestId }: Exchange, task: Task): Response {
  const response = json(videoObject(task), requestId);
  if (!finalTaskStates.has(task.state)) response.headers.set("openai-poll-after-ms", String(pollAfterMs(task)));
  return response;
}

/** What is done with the video that the path names; a failure names it as the caller did. */
async function ofVideo<Done>(exchange: Exchange, act: (id: string) => Promise<Done>): Promise<Done> {
  const id = idBehind("/v1/videos/", exchange);
  try {
    return await act(requireId(taskIdOf(id), "vt_", "task_not_found"));
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.upstream !== undefined) throw thrown;
    if (thrown.code === "task_not_found") throw unknownVideo(id);
    throw thrown.param === "task_id" ? thrown.with({ param: "video_id" }) : thrown;
  }
}

function unknownVideo(id: string): Failure {
  const shown = id.slice(0, 128).replace(/[^\x21-\x7e]/g, "?");
  return new Failure("task_not_found", `There is no video with the id "${shown}".`, { param: "video_id" });
}

/** Values are judged as a task's members; the caller is told which of its own they came from. */
function inTheirWords(failure: Failure, renamed: RenamedMembers): Failure {
  const { param, upstream } = failure;
  const [name = "", rest = ""] = /^(\w+)(.*)$/s.exec(param ?? "")?.slice(1) ?? [];
  const theirs = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
  if (theirs === undefined || upstream !== undefined) return failure;
  const read = Object.entries(renamed).flatMap(([ours, said]) => (said === theirs ? [`"${ours}"`] : []));
  return failure.with({
    param: rest === "" ? theirs : `${theirs}${rest}`,
    message: `${failure.message} ("${theirs}" is read as ${read.join(" and ")}.)`,
  });
}

function readStill(variant: string | null): ContentOptions["still"] {
  if (variant === null || variant === "video") return null;
  if (variant === "thumbnail" || variant === "spritesheet") return variant;
  throw new Failure("invalid_request", 'variant must be "video", "thumbnail" or "spritesheet".', { param: "variant" });
}

function isOldestFirst(order: string | null): boolean {
  if (order === null || order === "desc") return false;
  if (order === "asc") return true;
  throw new Failure("invalid_request", 'order must be "asc" or "desc".', { param: "order" });
}
