import { bytesOf } from "../byte-source.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, parseObject, stringOf } from "../json-body.ts";
import { bytesExchange, jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
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
import { removeTask, type TaskOwner, type TaskStore } from "../task-store.ts";
import { tinyPng } from "../tiny-png.ts";
import { fileBytes } from "./files.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";
import type { VendorFiles } from "./vendor-files.ts";

/** OpenAI's videos: POST …/videos (form or JSON), GET, the list, DELETE, /content and /remix. There is no cancel. */
export function openAiVideos(taskStore: TaskStore, files: Pick<VendorFiles, "list">): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      const [match, id, action] = pathPattern.exec(path) ?? [];
      if (match === undefined) return false;
      if (action === "/remix" || id === undefined) return method === "POST" || (method === "GET" && id === undefined);
      return method === "GET" || (method === "DELETE" && action === undefined);
    },
    read(request) {
      if (!/^bearer\s+\S/i.test(request.headers["authorization"] ?? "") && !isAzure(request)) {
        throw new Refusal(401, "You didn't provide an API key.", { code: null });
      }
      const owner = { dialect, account: accountOf(request.headers) };
      const [, id, action] = pathPattern.exec(request.path) ?? [];
      if (id === undefined)
        return request.method === "POST" ? create(taskStore, owner, request, files) : list(taskStore, owner, request);
      const task = requireTask(taskStore, owner, pathPart(id));
      if (action === "/content") return content(task, request);
      if (action === "/remix") return remix(taskStore, owner, request, task);
      return request.method === "DELETE" ? remove(task) : poll(taskStore, task);
    },
    headers: openAiHeaders,
    error: openAiError,
  };
}

const dialect = "openai-videos";
const pathPattern = /\/videos(?:\/([^/]+)(\/content|\/remix)?)?$/;
const sizes = ["720x1280", "1280x720", "1024x1792", "1792x1024"];

/** Azure's API equals OpenAI's, with the key in another header. */
function isAzure({ path, headers }: SimulatorRequest): boolean {
  return path.includes("/openai/v1/") && (headers["api-key"] ?? "") !== "";
}

function create(
  taskStore: TaskStore,
  owner: TaskOwner,
  request: SimulatorRequest,
  files: Pick<VendorFiles, "list">,
): Exchange {
  const fields = request.upload === undefined ? objectOf(parseObject(request.body)) : formOf(request.upload);
  const fileId = objectOf(fields["input_reference"])["file_id"] ?? fields["input_reference[file_id]"];
  if (fileId !== undefined) requirePicture(files, request, stringOf(fileId));
  // The duration is a string, even in JSON.
  const seconds = stringOf(fields["seconds"] ?? "4");
  const size = stringOf(fields["size"]) || "720x1280";
  if (!["4", "8", "12"].includes(seconds)) throw invalid("seconds", "4, 8, and 12");
  if (!sizes.includes(size)) throw invalid("size", sizes.join(", "));
  const shown = { seconds, size, remixed: null };
  return creation({ taskStore, owner, request, model: fields["model"] ?? "sora-2", prompt: fields["prompt"], shown });
}

function remix(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest, task: Task): Exchange {
  const prompt = objectOf(parseObject(request.body))["prompt"];
  const shown = { ...task.fields, remixed: task.id };
  return creation({ taskStore, owner, request, model: task.model, prompt, shown });
}

interface Creation {
  readonly taskStore: TaskStore;
  readonly owner: TaskOwner;
  readonly request: SimulatorRequest;
  readonly model: unknown;
  readonly prompt: unknown;
  readonly shown: JsonObject;
}

function creation({ taskStore, owner, request, model: named, prompt: promptField, shown }: Creation): Exchange {
  const { model, prompt, promptTokens, script } = readTask(named, promptField);
  if (stringOf(promptField) === "") {
    throw new Refusal(400, "Missing required parameter: 'prompt'.", {
      param: "prompt",
      code: "missing_required_parameter",
    });
  }
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const id = `video_${crypto.randomUUID().replaceAll("-", "")}`;
      const seconds = Number(shown["seconds"]);
      const fields = { ...shown, prompt };
      return videoBody(taskStore.accept({ ...owner, id, model, script, request, fields, seconds, tokens: 0 }));
    },
  });
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => videoBody(task));
}

function remove(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    act() {
      if (!isOver(viewTask(task, Date.now())))
        throw new Refusal(400, "The video is still being made.", { param: "id" });
      removeTask(task);
      return { id: task.id, object: "video.deleted", deleted: true };
    },
  });
}

/** The thumbnail and the sprite sheet are the same PNG; the vendor uses other formats. */
function content(task: Task, request: SimulatorRequest): Exchange {
  const variant = new URLSearchParams(request.query).get("variant") ?? "video";
  if (!["video", "thumbnail", "spritesheet"].includes(variant)) throw invalid("variant", "video and two pictures");
  task.downloads += 1;
  return bytesExchange({
    model: task.model,
    presetName: `${dialect} content`,
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

function list(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const query = new URLSearchParams(request.query);
  const limit = Math.min(Math.max(1, Number(query.get("limit") ?? 20) || 20), 100);
  return jsonExchange({
    model: "",
    presetName: `${dialect} list`,
    act() {
      const newest = taskStore.list(owner);
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
  const endedAt = view.endedAt === null ? null : Math.floor(view.endedAt / 1000);
  return {
    id: task.id,
    object: "video",
    model: task.model,
    status: stateWord(task, view, words),
    progress: view.progress,
    created_at: Math.floor(task.createdAt / 1000),
    completed_at: done ? endedAt : null,
    expires_at: done ? Math.floor(linkExpiry(task, view) / 1000) : null,
    seconds: task.fields["seconds"],
    size: task.fields["size"],
    prompt: task.fields["prompt"],
    error: isOver(view) && !done ? taskError(task, "moderation_blocked") : null,
    remixed_from_video_id: task.fields["remixed"],
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

function requireTask(taskStore: TaskStore, owner: TaskOwner, id: string): Task {
  const task = taskStore.find(owner, id);
  if (task !== null) return task;
  throw new Refusal(404, `Video with id '${id}' not found.`, { param: "id", code: "video_not_found" });
}

function requirePicture(files: Pick<VendorFiles, "list">, { headers }: SimulatorRequest, id: string): void {
  const account = headers["authorization"];
  const file = files.list().find((one) => one.account === account && one.id === id && !one.deleted);
  if (file === undefined) throw new Refusal(404, `No such File object: ${id}`, { param: "input_reference" });
  if (/^image\/(?:png|jpeg|webp)$/.test(file.media_type)) return;
  throw new Refusal(400, "The reference is of a type that is not supported.", { param: "input_reference" });
}

/** The text fields of a form. The file `input_reference` must be an image or a video, and not empty. */
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
