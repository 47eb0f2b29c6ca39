import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";
import { isOver, stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import type { TaskOwner, TaskStore } from "../task-store.ts";

/**
 * MiniMax (Hailuo), version 1: a create, a query that returns a file id, and a second request for the file's URL. Every answer has
 * status 200; the result is in `base_resp`.
 */
export function miniMaxVideos(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches: ({ method, path }) =>
      (method === "POST" && createPattern.test(path)) ||
      (method === "GET" && (path.endsWith("/query/video_generation") || path.endsWith("/files/retrieve"))),
    read(request) {
      if (!/^bearer\s+\S/i.test(request.headers["authorization"] ?? "")) {
        throw new Refusal(401, "login fail: Please carry the API secret key in the Authorization field", {
          code: "1004",
        });
      }
      const owner = { dialect, account: accountOf(request.headers) };
      const query = new URLSearchParams(request.query);
      if (request.method === "POST") return create(taskStore, owner, request);
      if (request.path.endsWith("/retrieve"))
        return file(requireTask(taskStore, owner, fromFileId(query.get("file_id") ?? "")));
      return poll(taskStore, requireTask(taskStore, owner, query.get("task_id") ?? ""));
    },
    headers: ({ requestId }) => [["trace-id", requestId]],
    error: ({ status, message, code }) => {
      const number = Number(code ?? defaultCodes[status] ?? 1000);
      return JSON.stringify({ base_resp: { status_code: number, status_msg: message } });
    },
    statusOf: ({ status }) => (status >= 500 ? status : 200),
  };
}

const dialect = "minimax-videos";
const createPattern = /(?<!\/query)\/video_generation$/;
const success = { status_code: 0, status_msg: "success" };
const callbackStates: readonly TaskState[] = ["running", "succeeded", "failed"];

const defaultCodes: Readonly<Record<number, string>> = {
  400: "2013",
  401: "1004",
  402: "1008",
  404: "2013",
  429: "1002",
};

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw invalid("the body is not a JSON object");
  const { model, prompt, promptTokens, script } = readTask(body["model"], body["prompt"]);
  if (stringOf(body["model"]) === "") throw invalid("model is required");
  if (prompt === "" && stringOf(body["first_frame_image"]) === "") throw invalid("prompt is required");
  const { duration, resolution } = body;
  if (duration !== undefined && duration !== 6 && duration !== 10) throw invalid("duration is 6 or 10");
  if (resolution !== undefined && !["512P", "720P", "768P", "1080P"].includes(stringOf(resolution))) {
    throw invalid("resolution is not supported");
  }
  const url = stringOf(body["callback_url"]);
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const id = taskStore.uniqueNumber();
      const callback = url === "" ? null : { url, states: callbackStates, body: queryBody };
      const task = {
        id,
        model,
        script,
        request,
        fields: {},
        seconds: Number(duration ?? 6),
        tokens: 0,
        callback,
      };
      taskStore.accept({ ...owner, ...task });
      return { task_id: id, base_resp: success };
    },
  });
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => queryBody(task));
}

function queryBody(task: Task, at = Date.now()): JsonObject {
  const view = viewTask(task, at);
  const done = view.state === "succeeded";
  const { code, message } = taskError(task, "1027");
  const failed = isOver(view) && !done;
  return {
    task_id: task.id,
    status: stateWord(task, view, words),
    file_id: done ? fileIdOf(task) : "",
    ...(done ? { video_width: 1366, video_height: 768 } : {}),
    base_resp: failed ? { status_code: Number(code) || 1027, status_msg: message } : success,
  };
}

function file(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} file`,
    act() {
      const view = viewTask(task, Date.now());
      if (view.state !== "succeeded") throw invalid("invalid file_id");
      const link = videoUrl(task, view);
      const details = {
        created_at: Math.floor((view.endedAt ?? 0) / 1000),
        filename: "output.mp4",
        download_url: link,
      };
      const bytes = task.script.video_bytes ?? 0;
      return { file: { file_id: fileIdOf(task), bytes, purpose: "video_generation", ...details }, base_resp: success };
    },
  });
}

/** Different from the task's id. */
function fileIdOf(task: Task): string {
  return `3${task.id.slice(1)}`;
}

function fromFileId(id: string): string {
  return `2${id.slice(1)}`;
}

function requireTask(taskStore: TaskStore, owner: TaskOwner, id: string): Task {
  const task = taskStore.find(owner, id);
  if (task === null) throw invalid("invalid params, invalid task_id");
  return task;
}

function invalid(why: string): Refusal {
  return new Refusal(400, why, { code: "2013" });
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "Queueing",
  running: "Processing",
  succeeded: "Success",
  failed: "Fail",
  expired: "Fail",
  cancelled: "Fail",
};
