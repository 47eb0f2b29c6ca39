import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, isObject, type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";
import { stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import { cancelTask, type TaskOwner, type TaskStore } from "../task-store.ts";

/** Replicate's predictions: create by model or version, GET, the list, and cancel. `Prefer: wait` is ignored. */
export function replicate(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      const [match, model, id, cancel] = pathPattern.exec(path) ?? [];
      if (match === undefined) return false;
      if (id === undefined) return method === "POST" || (method === "GET" && model === undefined);
      return model === undefined && (cancel === undefined ? method === "GET" : method === "POST");
    },
    read(request) {
      if (!/^(?:bearer|token)\s+\S/i.test(request.headers["authorization"] ?? "")) {
        throw new Refusal(401, "You did not pass a valid authentication token");
      }
      const owner = { dialect, account: accountOf(request.headers) };
      const [, model, id, cancel] = pathPattern.exec(request.path) ?? [];
      if (id === undefined)
        return request.method === "GET" ? list(taskStore, owner) : create(taskStore, owner, request, model);
      const task = taskStore.find(owner, pathPart(id));
      if (task === null) throw new Refusal(404, "The requested resource could not be found.");
      return cancel === undefined ? poll(taskStore, task) : stop(task);
    },
    headers: ({ requestId }) => [["x-request-id", requestId]],
    error: ({ status, message }) =>
      JSON.stringify({ title: titles[status] ?? "Something went wrong", detail: message, status }),
  };
}

const dialect = "replicate";
const pathPattern = /(?:\/models\/([^/]+\/[^/]+))?\/predictions(?:\/([^/]+)(\/cancel)?)?$/;

const titles: Readonly<Record<number, string>> = {
  401: "Unauthenticated",
  402: "Insufficient credit",
  404: "Not found",
  422: "Input validation failed",
  429: "Too many requests",
};

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest, path: string | undefined): Exchange {
  const body = parseObject(request.body);
  const { input, version, webhook } = body ?? {};
  if (!isObject(input)) throw new Refusal(422, "- input is required");
  if (path === undefined && stringOf(version) === "") throw new Refusal(422, "- version is required");
  const { model, promptTokens, script } = readTask(path === undefined ? version : pathPart(path), input["prompt"]);
  const url = stringOf(webhook);
  const prefix = request.path.slice(0, pathPattern.exec(request.path)?.index);
  const fields = { input, prefix, version: stringOf(version) || "hidden" };
  return jsonExchange({
    model,
    promptTokens,
    script,
    status: 201,
    act(script) {
      const id = taskStore.uniqueCode(26);
      const callback = url === "" ? null : { url, states: filterOf(body ?? {}), body: predictionBody };
      const seconds = countOf(input["duration"]) ?? 5;
      const draft = { ...owner, id, model, script, request, fields, seconds, tokens: 0, callback };
      return predictionBody(taskStore.accept(draft));
    },
  });
}

function filterOf(body: JsonObject): readonly TaskState[] {
  const filter = body["webhook_events_filter"];
  const events: readonly unknown[] = Array.isArray(filter) ? filter : ["start", "completed"];
  const started: readonly TaskState[] = events.includes("start") ? ["running"] : [];
  return events.includes("completed") ? [...started, "succeeded", "failed", "expired"] : started;
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => predictionBody(task));
}

function stop(task: Task): Exchange {
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    act() {
      cancelTask(task);
      return predictionBody(task);
    },
  });
}

function list(taskStore: TaskStore, owner: TaskOwner): Exchange {
  const act = (): JsonObject => {
    return { previous: null, next: null, results: taskStore.list(owner).slice(0, 100).map(predictionBody) };
  };
  return jsonExchange({ model: "", presetName: `${dialect} list`, act });
}

function predictionBody(task: Task, at = Date.now()): JsonObject {
  const view = viewTask(task, at);
  const url = `${task.base}${task.fields["prefix"]}/predictions/${task.id}`;
  const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  const seconds = view.endedAt === null || view.startedAt === null ? null : (view.endedAt - view.startedAt) / 1000;
  return {
    id: task.id,
    model: task.model,
    version: task.fields["version"],
    status: stateWord(task, view, words),
    input: task.fields["input"],
    output: view.state === "succeeded" ? videoUrl(task, view) : null,
    error: view.state === "failed" ? taskError(task, "E005").message : null,
    logs: "",
    metrics: seconds === null || task.script.no_usage === true ? {} : { predict_time: seconds },
    created_at: timeOf(task.createdAt),
    started_at: timeOf(view.startedAt),
    completed_at: timeOf(view.endedAt),
    urls: { get: url, cancel: `${url}/cancel` },
  };
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "starting",
  running: "processing",
  succeeded: "succeeded",
  failed: "failed",
  expired: "aborted",
  cancelled: "canceled",
};
