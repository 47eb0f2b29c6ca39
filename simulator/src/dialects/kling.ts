import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import type { TaskOwner, TaskStore } from "../task-store.ts";
import { checkKlingToken } from "./kling-token.ts";

/** Kling: POST …/videos/{operation}, GET …/videos/{operation}/{task_id} (or the client's id), and the list. There is no cancel. */
export function kling(taskStore: TaskStore, keys: Readonly<Record<string, string>>): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      const [match, , id] = pathPattern.exec(path) ?? [];
      return match !== undefined && (method === "GET" || (method === "POST" && id === undefined));
    },
    read(request) {
      const owner = { dialect, account: checkKlingToken(request, keys, Date.now()) };
      const [, operation = "", id] = pathPattern.exec(request.path) ?? [];
      if (request.method === "POST") return create(taskStore, owner, request, operation);
      return id === undefined
        ? list(taskStore, owner, request, operation)
        : poll(taskStore, owner, operation, pathPart(id));
    },
    headers: ({ requestId }) => [["x-request-id", requestId]],
    error: ({ status, message, code }, requestId) =>
      JSON.stringify({ code: Number(code ?? defaultCodes[status] ?? 5000), message, request_id: requestId }),
  };
}

/** The default key pair for tokens. */
export const defaultKlingKeys: Readonly<Record<string, string>> = Object.freeze({
  AKKLINGEXAMPLE: "kling-secret-example",
});

const dialect = "kling";
const pathPattern =
  /\/videos\/(text2video|image2video|multi-image2video|omni-video|video-extend|lip-sync)(?:\/([^/]+))?$/;

const defaultCodes: Readonly<Record<number, string>> = {
  400: "1201",
  401: "1000",
  403: "1103",
  404: "1203",
  429: "1302",
  503: "5001",
};

const callbackStates: readonly TaskState[] = ["running", "succeeded", "failed"];

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest, operation: string): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw invalid("the body is not a JSON object");
  const { model, prompt, promptTokens, script } = readTask(body["model_name"] ?? "kling-v1", body["prompt"]);
  checkFields(body, operation, prompt);
  const seconds = Number(body["duration"] ?? "5");
  const clientId = stringOf(body["external_task_id"]) || null;
  const url = stringOf(body["callback_url"]);
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const id = taskStore.uniqueNumber();
      const callback = url === "" ? null : { url, states: callbackStates, body: dataOf };
      const draft = { ...owner, id, model, script, request, fields: { operation }, seconds, tokens: 0 };
      return envelope(dataOf(taskStore.accept({ ...draft, clientId, callback })));
    },
  });
}

function checkFields(body: JsonObject, operation: string, prompt: string): void {
  const { duration, mode, aspect_ratio: ratio, image } = body;
  if (operation === "text2video" && prompt === "") throw invalid("prompt is required");
  if (operation === "image2video" && stringOf(image) === "") throw invalid("image is required");
  if (stringOf(image).startsWith("data:")) throw invalid("image: base64 comes without a data: prefix");
  // The duration is a string.
  if (duration !== undefined && !(typeof duration === "string" && /^(?:[3-9]|1[0-5])$/.test(duration))) {
    throw invalid("duration is not supported");
  }
  if (mode !== undefined && mode !== "std" && mode !== "pro") throw invalid("mode is std or pro");
  if (ratio !== undefined && !["16:9", "9:16", "1:1"].includes(stringOf(ratio))) {
    throw invalid("aspect_ratio is not supported");
  }
}

function poll(taskStore: TaskStore, owner: TaskOwner, operation: string, id: string): Exchange {
  const task = taskStore.find(owner, id) ?? taskStore.list(owner).find(({ clientId }) => clientId === id) ?? null;
  if (task === null || task.fields["operation"] !== operation)
    throw new Refusal(404, "task not found", { code: "1203" });
  return pollExchange(taskStore, task, dialect, () => envelope(dataOf(task)));
}

function list(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest, operation: string): Exchange {
  const query = new URLSearchParams(request.query);
  const page = Number(query.get("pageNum") ?? 1) || 1;
  const size = Math.min(Number(query.get("pageSize") ?? 30) || 30, 500);
  return jsonExchange({
    model: "",
    presetName: `${dialect} list`,
    act() {
      const matching = taskStore.list(owner).filter((task) => task.fields["operation"] === operation);
      return envelope(matching.slice((page - 1) * size, page * size).map(dataOf));
    },
  });
}

/** Code 0 means that the call succeeded, even if the task has failed. */
function envelope(data: unknown): JsonObject {
  return { code: 0, message: "SUCCEED", request_id: crypto.randomUUID(), data };
}

function dataOf(task: Task, at = Date.now()): JsonObject {
  const view = viewTask(task, at);
  const failed = ["failed", "expired", "cancelled"].includes(view.state);
  const video = { id: `${task.id}1`, url: videoUrl(task, view), duration: (task.seconds + 0.041).toFixed(3) };
  return {
    task_id: task.id,
    task_status: stateWord(task, view, words),
    task_status_msg: failed ? taskError(task, "content policy").message : "",
    task_info: objectOf(task.clientId === null ? {} : { external_task_id: task.clientId }),
    created_at: task.createdAt,
    updated_at: view.changedAt,
    ...(view.state === "succeeded" ? { task_result: { videos: [video] } } : {}),
  };
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "submitted",
  running: "processing",
  succeeded: "succeed",
  failed: "failed",
  expired: "failed",
  cancelled: "failed",
};

function invalid(why: string): Refusal {
  return new Refusal(400, why, { code: "1201" });
}
