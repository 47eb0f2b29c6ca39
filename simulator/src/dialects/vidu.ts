import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOfKey } from "../seal.ts";
import { frameUrl, isOver, stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import { cancelTask, type TaskOwner, type TaskStore } from "../task-store.ts";

/** Vidu: POST …/ent/v2/{operation}, GET …/ent/v2/tasks/{id}/creations, cancel, and the list. The key is sent as `Token`. */
export function vidu(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      if (createPattern.test(path)) return method === "POST";
      const [match, , action] = taskPattern.exec(path) ?? [];
      return match !== undefined && (action === "cancel" ? method === "POST" : method === "GET");
    },
    read(request) {
      const key = /^token\s+(\S+)$/i.exec(request.headers["authorization"] ?? "")?.[1];
      if (key === undefined) throw new Refusal(401, "The token is missing.", { code: "Unauthorized" });
      const owner = { dialect, account: accountOfKey(key) };
      const operation = createPattern.exec(request.path)?.[1];
      if (operation !== undefined) return create(taskStore, owner, request, operation);
      const [, id, action] = taskPattern.exec(request.path) ?? [];
      if (id === undefined) return list(taskStore, owner);
      const task = taskStore.find(owner, pathPart(id));
      if (task === null) throw new Refusal(404, "The task does not exist.", { code: "TaskNotFound" });
      return action === "cancel" ? stop(task) : poll(taskStore, task);
    },
    headers: ({ requestId }) => [["x-request-id", requestId]],
    error: ({ status, message, code }) =>
      JSON.stringify({ code: status, reason: code ?? defaultReasons[status] ?? "Internal", message, metadata: {} }),
  };
}

const dialect = "vidu";
const createPattern = /\/ent\/v2\/(text2video|img2video|start-end2video|reference2video|template)$/;
const taskPattern = /\/ent\/v2\/tasks(?:\/([^/]+)\/(creations|cancel))?$/;
const callbackStates: readonly TaskState[] = ["running", "succeeded", "failed"];

const defaultReasons: Readonly<Record<number, string>> = {
  400: "FieldInvalid",
  401: "Unauthorized",
  403: "CreditInsufficient",
  404: "TaskNotFound",
  429: "QuotaExceeded",
};

/** The minimum and maximum number of images per operation. */
const imageCounts: Readonly<Record<string, readonly [number, number]>> = {
  text2video: [0, 0],
  img2video: [1, 1],
  "start-end2video": [2, 2],
  reference2video: [1, 7],
  template: [1, 7],
};

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest, operation: string): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw invalid("the body is not a JSON object");
  const { model, prompt, promptTokens, script } = readTask(body["model"], body["prompt"]);
  if (stringOf(body["model"]) === "") throw invalid("model is required");
  const images = Array.isArray(body["images"]) ? body["images"] : [];
  const [min, max] = imageCounts[operation] ?? [0, 7];
  if (images.length < min || images.length > max) throw invalid(`images: ${min} to ${max} are needed`);
  if (operation === "text2video" && prompt === "") throw invalid("prompt is required");
  const seconds = countOf(body["duration"]) ?? 5;
  const fields = { ...echoes(body), prompt, images, payload: stringOf(body["payload"]) };
  const url = stringOf(body["callback_url"]);
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const callback = url === "" ? null : { url, states: callbackStates, body: creationsBody };
      const id = taskStore.uniqueNumber();
      const draft = { ...owner, id, model, script, request, fields, seconds, tokens: seconds * 10, callback };
      const task = taskStore.accept({ ...draft, clientId: fields.payload || null });
      const created = { credits: task.tokens, created_at: timeOf(task.createdAt) };
      return { task_id: task.id, state: "created", model, ...fields, duration: seconds, ...created };
    },
  });
}

function echoes(body: JsonObject): JsonObject {
  const names = ["seed", "resolution", "aspect_ratio", "movement_amplitude", "bgm", "off_peak"];
  return Object.fromEntries(names.filter((name) => body[name] != null).map((name) => [name, body[name]]));
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => creationsBody(task));
}

function stop(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    act() {
      if (!cancelTask(task)) throw new Refusal(400, "The task is over.", { code: "TaskStateInvalid" });
      return {};
    },
  });
}

function list(taskStore: TaskStore, owner: TaskOwner): Exchange {
  return jsonExchange({
    model: "",
    presetName: `${dialect} list`,
    act() {
      const tasks = taskStore.list(owner).slice(0, 100).map(creationsBody);
      return { tasks, next_page_token: "" };
    },
  });
}

function creationsBody(task: Task, at = Date.now()): JsonObject {
  const view = viewTask(task, at);
  const done = view.state === "succeeded";
  const failed = isOver(view) && !done;
  const creation = { id: `${task.id}1`, url: videoUrl(task, view), cover_url: frameUrl(task, view) };
  return {
    id: task.id,
    state: stateWord(task, view, words),
    err_code: failed ? taskError(task, view.state === "cancelled" ? "TaskCanceled" : "AuditSubmitIllegal").code : "",
    credits: done && task.script.no_usage !== true ? task.tokens : 0,
    payload: task.fields["payload"],
    bgm: task.fields["bgm"] ?? false,
    off_peak: task.fields["off_peak"] ?? false,
    creations: done ? [creation] : [],
  };
}

/** Canceled tasks are reported as failed. */
const words: Readonly<Record<TaskState, string>> = {
  queued: "queueing",
  running: "processing",
  succeeded: "success",
  failed: "failed",
  expired: "failed",
  cancelled: "failed",
};

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function invalid(why: string): Refusal {
  return new Refusal(400, why, { code: "FieldInvalid" });
}
