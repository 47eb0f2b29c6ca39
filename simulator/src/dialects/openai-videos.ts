import { bytesOf } from "../byte-source.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, parseObject, stringOf } from "../json-body.ts";
import { bytesExchange, jsonExchange } from "../json-exchange.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";
import {
  contentScript,
  isOver,
  linkExpiry,
  stateWord,
  type Task,
  type TaskState,
  taskError,
  videoFile,
  viewTask,
} from "../task.ts";
import { readTask } from "../task-asked.ts";
import { removeTask, type TaskBook, type TaskOwner } from "../task-desk.ts";
import { tinyPng } from "../tiny-png.ts";
import { fileBytes } from "./files.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/** OpenAI's videos: POST …/videos (a form, or JSON), GET, the list, DELETE, /content and /remix. There is no cancel. */
export function openAiVideos(taskBook: TaskBook): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      const [found, id, more] = pathPattern.exec(path) ?? [];
      if (found === undefined) return false;
      if (more === "/remix" || id === undefined) return method === "POST" || (method === "GET" && id === undefined);
      return method === "GET" || (method === "DELETE" && more === undefined);
    },
    read(request) {
      if (!/^bearer\s+\S/i.test(request.headers["authorization"] ?? "") && !isAzures(request)) {
        throw new Refusal(401, "You didn't provide an API key.", { code: null });
      }
      const owner = { dialect, account: accountOf(request.headers) };
      const [, id, more] = pathPattern.exec(request.path) ?? [];
      if (id === undefined)
        return request.method === "POST" ? create(taskBook, owner, request) : list(taskBook, owner, request);
      const task = known(taskBook, owner, pathPart(id));
      if (more === "/content") return content(task, request);
      if (more === "/remix") return remix(taskBook, owner, request, task);
      return request.method === "DELETE" ? remove(task) : look(taskBook, task);
    },
    headers: openAiHeaders,
    error: openAiError,
  };
}

const dialect = "openai-videos";
const pathPattern = /\/videos(?:\/([^/]+)(\/content|\/remix)?)?$/;
const sizes = ["720x1280", "1280x720", "1024x1792", "1792x1024"];

/** Azure's are OpenAI's own, with its key in a header of its own. */
function isAzures({ path, headers }: SimulatorRequest): boolean {
  return path.includes("/openai/v1/") && (headers["api-key"] ?? "") !== "";
}

function create(taskBook: TaskBook, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const fields = request.upload === undefined ? objectOf(parseObject(request.body)) : formOf(request.upload);
  // The length is a text, also in JSON.
  const seconds = stringOf(fields["seconds"] ?? "4");
  const size = stringOf(fields["size"]) || "720x1280";
  if (!["4", "8", "12"].includes(seconds)) throw invalid("seconds", "4, 8, and 12");
  if (!sizes.includes(size)) throw invalid("size", sizes.join(", "));
  const asked = { seconds, size, remixed: null };
  return creation({ taskBook, owner, request, model: fields["model"] ?? "sora-2", prompt: fields["prompt"], asked });
}

function remix(taskBook: TaskBook, owner: TaskOwner, request: SimulatorRequest, task: Task): Exchange {
  const prompt = objectOf(parseObject(request.body))["prompt"];
  const asked = { ...task.asked, remixed: task.id };
  return creation({ taskBook, owner, request, model: task.model, prompt, asked });
}

interface Creation {
  readonly taskBook: TaskBook;
  readonly owner: TaskOwner;
  readonly request: SimulatorRequest;
  readonly model: unknown;
  readonly prompt: unknown;
  readonly asked: JsonObject;
}

function creation({ taskBook, owner, request, model: named, prompt: given, asked }: Creation): Exchange {
  const { model, prompt, promptTokens, script } = readTask(named, given);
  if (stringOf(given) === "") {
    throw new Refusal(400, "Missing required parameter: 'prompt'.", {
      param: "prompt",
      code: "missing_required_parameter",
    });
  }
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(known) {
      const id = `video_${crypto.randomUUID().replaceAll("-", "")}`;
      const seconds = Number(asked["seconds"]);
      const told = { ...asked, prompt };
      return videoBody(
        taskBook.accept({ ...owner, id, model, script: known, request, asked: told, seconds, tokens: 0 }),
      );
    },
  });
}

function look(taskBook: TaskBook, task: Task): Exchange {
  return pollExchange(taskBook, task, dialect, () => videoBody(task));
}

function remove(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    aside: `${dialect} cancel`,
    act() {
      if (!isOver(viewTask(task, Date.now())))
        throw new Refusal(400, "The video is still being made.", { param: "id" });
      removeTask(task);
      return { id: task.id, object: "video.deleted", deleted: true };
    },
  });
}

/** The thumbnail and the sprite sheet are the same picture; the vendor's are of other formats. */
function content(task: Task, request: SimulatorRequest): Exchange {
  const variant = new URLSearchParams(request.query).get("variant") ?? "video";
  if (!["video", "thumbnail", "spritesheet"].includes(variant)) throw invalid("variant", "video and two pictures");
  task.downloads += 1;
  return bytesExchange({
    model: task.model,
    aside: `${dialect} content`,
    inherited: contentScript(task),
    act() {
      const view = viewTask(task, Date.now());
      if (view.state !== "succeeded") throw new Refusal(404, "Video is not ready yet.", { code: null });
      const expiresAt = linkExpiry(task, view);
      if (Date.now() >= expiresAt) throw new Refusal(404, "The video has expired.", { code: null });
      return variant === "video" ? fileBytes(videoFile(task, expiresAt)) : bytesOf("image/png", tinyPng);
    },
  });
}

function list(taskBook: TaskBook, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const query = new URLSearchParams(request.query);
  const limit = Math.min(Math.max(1, Number(query.get("limit") ?? 20) || 20), 100);
  return jsonExchange({
    model: "",
    aside: `${dialect} list`,
    act() {
      const newest = taskBook.list(owner);
      const tasks = query.get("order") === "asc" ? newest.toReversed() : newest;
      const from = tasks.findIndex((task) => task.id === query.get("after")) + 1;
      const data = tasks.slice(from, from + limit).map(videoBody);
      return {
        object: "list",
        data,
        first_id: data[0]?.["id"] ?? null,
        last_id: data.at(-1)?.["id"] ?? null,
        has_more: from + limit < tasks.length,
      };
    },
  });
}

function videoBody(task: Task): JsonObject {
  const view = viewTask(task, Date.now());
  const done = view.state === "succeeded";
  const over = view.endedAt === null ? null : Math.floor(view.endedAt / 1000);
  return {
    id: task.id,
    object: "video",
    model: task.model,
    status: stateWord(task, view, words),
    progress: view.progress,
    created_at: Math.floor(task.createdAt / 1000),
    completed_at: done ? over : null,
    expires_at: done ? Math.floor(linkExpiry(task, view) / 1000) : null,
    seconds: task.asked["seconds"],
    size: task.asked["size"],
    prompt: task.asked["prompt"],
    error: isOver(view) && !done ? taskError(task, "moderation_blocked") : null,
    remixed_from_video_id: task.asked["remixed"],
  };
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "queued",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  expired: "failed",
  cancelled: "failed",
};

function known(taskBook: TaskBook, owner: TaskOwner, id: string): Task {
  const task = taskBook.find(owner, id);
  if (task !== null) return task;
  throw new Refusal(404, `Video with id '${id}' not found.`, { param: "id", code: "video_not_found" });
}

/** The texts of a form. The file of `input_reference` must be a picture or a video, and not empty. */
function formOf(upload: NonNullable<SimulatorRequest["upload"]>): JsonObject {
  if (upload.broken !== null) throw new Refusal(400, `Could not parse multipart form: ${upload.broken}.`);
  for (const { name, size, content_type: type, filename } of upload.parts) {
    if (filename === null) continue;
    if (name !== "input_reference") throw new Refusal(400, `Unknown parameter: '${name}'.`, { param: name });
    if (size === 0 || !/^(?:image\/(?:png|jpeg|webp)|video\/mp4)$/.test(type ?? "")) {
      throw new Refusal(400, "The reference is empty, or of a type that is not supported.", { param: name });
    }
  }
  return Object.fromEntries(upload.parts.map(({ name, value }) => [name, value]));
}

function invalid(param: string, allowed: string): Refusal {
  const message = `Invalid value for '${param}'. Supported values are: ${allowed}.`;
  return new Refusal(400, message, { param, code: "invalid_value" });
}
