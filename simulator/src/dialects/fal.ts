import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOfKey } from "../seal.ts";
import { isOver, stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import { cancelTask, type TaskOwner, type TaskStore } from "../task-store.ts";

/**
 * fal's queue: POST /{owner}/{app}/…, then /{owner}/{app}/requests/{id}/status, the result at …/requests/{id}, and PUT …/cancel.
 * The paths are ambiguous, so it is recognized by its `Key` credentials, and it has no base path.
 */
export function fal(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches({ method, path, headers }) {
      if (!keyPattern.test(headers["authorization"] ?? "")) return false;
      const match = requestPattern.exec(path);
      if (match === null) return method === "POST" && appPattern.test(path);
      return match[3] === "/cancel" ? method === "PUT" : method === "GET";
    },
    read(request) {
      const owner = {
        dialect,
        account: accountOfKey(keyPattern.exec(request.headers["authorization"] ?? "")?.[1] ?? ""),
      };
      const [, app = "", id, action] = requestPattern.exec(request.path) ?? [];
      if (id === undefined) return create(taskStore, owner, request);
      const task = taskStore.find(owner, pathPart(id));
      if (task === null || task.fields["app"] !== app) throw new Refusal(404, "Request not found");
      if (action === "/status") return poll(taskStore, task);
      return action === "/cancel" ? stop(task) : result(taskStore, task);
    },
    headers: ({ requestId }) => [["x-fal-request-id", requestId]],
    error: ({ status, message, code, param }) => {
      const row = { loc: ["body", param ?? "prompt"], msg: message, type: code ?? "value_error" };
      return JSON.stringify({ detail: status === 422 ? [row] : message });
    },
  };
}

const dialect = "fal";
const keyPattern = /^key\s+(\S+)$/i;
const appPattern = /^\/([^/]+\/[^/]+)(?:\/.+)?$/;
const requestPattern = /^\/([^/]+\/[^/]+)\/requests\/([^/]+?)(\/status|\/cancel)?$/;
const callbackStates: readonly TaskState[] = ["succeeded", "failed"];

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(422, "Input should be a valid dictionary", { code: "dict_type" });
  const { model, promptTokens, script } = readTask(pathPart(request.path.slice(1)), body["prompt"]);
  const app = appPattern.exec(request.path)?.[1] ?? "";
  const seconds = Number.parseInt(stringOf(body["duration"]), 10) || (countOf(body["duration"]) ?? 5);
  const url = new URLSearchParams(request.query).get("fal_webhook") ?? "";
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const id = crypto.randomUUID();
      const callback = url === "" ? null : { url, states: callbackStates, body: webhookBody };
      const draft = { ...owner, id, model, script, request, fields: { app }, seconds, tokens: 0, callback };
      return queueBody(taskStore.accept(draft));
    },
  });
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => queueBody(task));
}

function stop(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    status: 202,
    act() {
      if (!cancelTask(task)) throw new Refusal(400, "ALREADY_COMPLETED");
      return { status: "CANCELLATION_REQUESTED" };
    },
  });
}

/** A failed task is completed with an error as its result. */
function result(taskStore: TaskStore, task: Task): Exchange {
  const inherited = taskStore.poll(task);
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} result`,
    inherited,
    act() {
      const view = viewTask(task, Date.now());
      if (!isOver(view)) throw new Refusal(400, "Request is still in progress");
      if (view.state === "succeeded") return output(task);
      const { code, message } = taskError(task, "content_policy_violation");
      throw new Refusal(view.state === "cancelled" ? 499 : 422, message, { code });
    },
  });
}

function output(task: Task): JsonObject {
  const video = { url: videoUrl(task, viewTask(task, Date.now())), content_type: "video/mp4", file_name: "output.mp4" };
  return { video: { ...video, file_size: task.script.video_bytes ?? 0 }, seed: 1 };
}

function queueBody(task: Task): JsonObject {
  const view = viewTask(task, Date.now());
  const url = `${task.base}/${task.fields["app"]}/requests/${task.id}`;
  return {
    status: stateWord(task, view, words),
    request_id: task.id,
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
    ...(view.state === "queued" ? { queue_position: 0 } : {}),
  };
}

function webhookBody(task: Task): JsonObject {
  const succeeded = viewTask(task, Date.now()).state === "succeeded";
  const ids = { request_id: task.id, gateway_request_id: task.id };
  if (succeeded) return { ...ids, status: "OK", payload: output(task) };
  return { ...ids, status: "ERROR", error: taskError(task, "content_policy_violation").message };
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "IN_QUEUE",
  running: "IN_PROGRESS",
  succeeded: "COMPLETED",
  failed: "COMPLETED",
  expired: "COMPLETED",
  cancelled: "COMPLETED",
};
