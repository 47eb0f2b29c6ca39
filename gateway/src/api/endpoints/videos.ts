import { sizeOf } from "#bodies/index.ts";
import { Failure, finalTaskStates, type HeldMemory, type Task, taskIdOf, videoIdOf } from "#core/index.ts";
import { type RemixedVideo, type RenamedMembers, readMultipartType, videoObject } from "#protocols/index.ts";
import { type ContentOptions, pollAfterMs, type SentBody } from "#tasks/index.ts";
import { withKey } from "../authenticated.ts";
import { isJsonType, jsonOrForm, readJsonPieces, readPieces, videoBody } from "../body.ts";
import type { Exchange } from "../dependencies.ts";
import { idBehind, readPage, requireId } from "../request-parts.ts";
import { json } from "../respond.ts";
import { sendVideo, startsVideo } from "./video-tasks.ts";

/*
 * OpenAI's videos API: the tasks of /v1/video/tasks in OpenAI's shape. `video_…` and `vt_…` name the same task, and both APIs
 * accept either.
 */
export const createVideo = startsVideo({
  read: (exchange, place) => readBody(exchange, place, null),
  answer,
  rename: withCallersName,
});

/** DELETE /v1/videos/{id}: deletes the video. A video in progress is first canceled if its vendor supports that. */
export const deleteVideo = withKey((exchange, { workspace }) =>
  withVideoId(exchange, async (taskId) => {
    await exchange.dependencies.videos.remove(workspace.id, taskId);
    return { id: videoIdOf(taskId), object: "video.deleted", deleted: true };
  }),
);

/** POST /v1/videos/{id}/remix: the same video with another prompt, if its vendor supports that. */
export const remixVideo = startsVideo({
  read: async (exchange, place, { workspace }) => {
    const { id: taskId, model } = await withVideoId(exchange, (id) =>
      exchange.dependencies.videos.get(workspace.id, id),
    );
    return await readBody(exchange, place, { taskId, model });
  },
  answer,
  rename: (failure, renamed) =>
    failure.param === "remix_of" ? failure.with({ param: "video_id" }) : withCallersName(failure, renamed),
});

/** GET /v1/videos: all videos of the workspace, from every key and both APIs; takes `limit`, `after`, `order`. */
export const listVideos = withKey(async (exchange, { workspace }) => {
  const { videos } = exchange.dependencies;
  const workspaceId = workspace.id;
  const query = new URLSearchParams(exchange.query);
  const filter = { workspaceId, oldestFirst: isOldestFirst(query.get("order")) };
  const { tasks, next } = await readPage(query, async (after, limit) => {
    const position = after === null ? null : await videos.findPosition(workspaceId, taskIdOf(after));
    if (after !== null && position === null)
      throw new Failure("invalid_request", "Video not found.", { param: "cursor" });
    return videos.page(filter, position, limit);
  });
  const data = tasks.map(videoObject);
  const ids = tasks.map(({ id }) => videoIdOf(id));
  return { object: "list", data, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: next !== null };
});

export const getVideo = withKey(async (exchange, { workspace }) =>
  answer(exchange, await withVideoId(exchange, (id) => exchange.dependencies.videos.get(workspace.id, id))),
);

/** GET /v1/videos/{id}/content: the bytes of the video or, with `variant`, of a still of it; supports ranges. */
export const videosContent = withKey((exchange, principal) => {
  const still = readStill(new URLSearchParams(exchange.query).get("variant"));
  return withVideoId(exchange, (id) => sendVideo(exchange, principal, id, still));
});

/** Endpoints of OpenAI's videos API that the gateway does not have. Only an authenticated caller learns that. */
export const notOffered = withKey(({ request, path }) => {
  throw new Failure(
    "invalid_request",
    `This gateway does not offer ${request.method} ${path.slice(0, pathShownMax)}. Of OpenAI's videos API it has create, retrieve, list, delete, content and remix.`,
  );
});

const pathShownMax = 64;

async function readBody(exchange: Exchange, place: HeldMemory, remix: RemixedVideo | null): Promise<SentBody> {
  const contentType = exchange.request.headers.get("content-type");
  if (isJsonType(contentType)) {
    return { bytes: await readJsonPieces(exchange, place, videoBody), openai: { boundary: null, remix } };
  }
  const { boundary } = readMultipartType(contentType, jsonOrForm);
  const bytes = await readPieces(exchange, place, videoBody);
  // The form, plus its file in base64.
  place.hold(Math.ceil((sizeOf(bytes) * 7) / 3));
  return { bytes, openai: { boundary, remix } };
}

/** `openai-poll-after-ms` is the time that OpenAI's clients wait before they poll again. */
function answer(_: Exchange, task: Task): Response {
  const response = json(videoObject(task));
  if (!finalTaskStates.has(task.state)) response.headers.set("openai-poll-after-ms", String(pollAfterMs(task)));
  return response;
}

/** Calls `act` with the task of the video in the path. A failure names the video as the caller did. */
async function withVideoId<Result>(exchange: Exchange, act: (taskId: string) => Promise<Result>): Promise<Result> {
  const id = idBehind("/v1/videos/", exchange);
  try {
    return await act(requireId(taskIdOf(id), "vt_", "task_not_found"));
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.upstream !== undefined) throw thrown;
    if (thrown.code === "task_not_found") {
      const shown = id.slice(0, 128).replace(/[^\x21-\x7e]/g, "?");
      throw new Failure("task_not_found", `There is no video with the id "${shown}".`, { param: "video_id" });
    }
    throw thrown.param === "task_id" ? thrown.with({ param: "video_id" }) : thrown;
  }
}

/** Values are checked as members of a task; the failure names the caller's own field. */
function withCallersName(failure: Failure, renamed: RenamedMembers): Failure {
  const { param, upstream } = failure;
  const [name = "", rest = ""] = /^(\w+)(.*)$/s.exec(param ?? "")?.slice(1) ?? [];
  const callers = Object.hasOwn(renamed, name) ? renamed[name] : undefined;
  if (callers === undefined || upstream !== undefined) return failure;
  const read = Object.entries(renamed).flatMap(([ours, theirs]) => (theirs === callers ? [`"${ours}"`] : []));
  return failure.with({
    param: `${callers}${rest}`,
    message: `${failure.message} ("${callers}" is read as ${read.join(" and ")}.)`,
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
