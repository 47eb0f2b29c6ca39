import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";
import { stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import { cancelTask, removeTask, type TaskOwner, type TaskStore } from "../task-store.ts";

/** Runway: POST …/image_to_video and similar, GET and DELETE …/tasks/{id}. Every call must name the API version. */
export function runway(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches: ({ method, path }) =>
      createPattern.test(path)
        ? method === "POST"
        : taskPattern.test(path) && (method === "GET" || method === "DELETE"),
    read(request) {
      const { headers, path, method } = request;
      if (!/^bearer\s+\S/i.test(headers["authorization"] ?? "")) throw new Refusal(401, "The API key is missing.");
      if (headers["x-runway-version"] !== "2024-11-06") {
        throw new Refusal(400, "The X-Runway-Version header is missing, or names a version that does not exist.");
      }
      const owner = { dialect, account: accountOf(headers) };
      const operation = createPattern.exec(path)?.[1];
      if (operation !== undefined) return create(taskStore, owner, request, operation);
      const task = taskStore.find(owner, pathPart(taskPattern.exec(path)?.[1]));
      if (task === null) throw new Refusal(404, "A task with that id was not found.");
      return method === "GET" ? poll(taskStore, task) : stop(task);
    },
    headers: ({ requestId }) => [["x-request-id", requestId]],
    error: ({ message }) => JSON.stringify({ error: message }),
  };
}

const dialect = "runway";
const createPattern = /\/(image_to_video|text_to_video|video_to_video|character_performance|video_upscale)$/;
const taskPattern = /\/tasks\/([^/]+)$/;

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest, operation: string): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "The body is not a JSON object.");
  const { model, prompt, promptTokens, script } = readTask(body["model"], body["promptText"]);
  if (stringOf(body["model"]) === "") throw invalid("model");
  if (operation === "text_to_video" && prompt === "") throw invalid("promptText");
  if (operation === "image_to_video" && !isImage(body["promptImage"])) throw invalid("promptImage");
  // Ratios are sizes in pixels.
  const { ratio, duration } = body;
  if (ratio !== undefined && !/^\d{3,4}:\d{3,4}$/.test(stringOf(ratio))) throw invalid("ratio");
  if (duration !== undefined && !(Number.isInteger(duration) && Number(duration) > 0)) throw invalid("duration");
  const seconds = Number(duration ?? 5);
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const id = crypto.randomUUID();
      taskStore.accept({ ...owner, id, model, script, request, fields: {}, seconds, tokens: seconds * 5 });
      return { id };
    },
  });
}

function isImage(value: unknown): boolean {
  if (typeof value === "string") return /^(?:https:|http:|data:image\/|runway:)/.test(value);
  return Array.isArray(value) && value.length > 0;
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => taskBody(task));
}

/** Cancels a task that is running, or deletes one that has ended. */
function stop(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    status: 204,
    act() {
      if (!cancelTask(task)) removeTask(task);
    },
  });
}

function taskBody(task: Task): JsonObject {
  const view = viewTask(task, Date.now());
  const { code, message } = taskError(task, "SAFETY.INPUT.TEXT");
  return {
    id: task.id,
    status: stateWord(task, view, words),
    createdAt: new Date(task.createdAt).toISOString(),
    ...(view.state === "running" ? { progress: view.progress / 100 } : {}),
    ...(view.state === "succeeded" ? { output: [videoUrl(task, view)] } : {}),
    ...(words[view.state] === "FAILED" ? { failure: message, failureCode: code } : {}),
    ...(view.state === "succeeded" && task.script.no_usage !== true ? { cost: { credits: task.tokens } } : {}),
  };
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "PENDING",
  running: "RUNNING",
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  expired: "FAILED",
  cancelled: "CANCELLED",
};

function invalid(field: string): Refusal {
  return new Refusal(400, `Validation of body failed: ${field} is missing or not valid.`);
}
