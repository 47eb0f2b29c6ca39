import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOf } from "../seal.ts";
import { isOver, stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import { cancelTask, type TaskOwner, type TaskStore } from "../task-store.ts";

/** Wan on DashScope: asynchronous create, GET and cancel at …/api/v1/tasks/{id}, and the list. */
export function dashScopeVideos(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      if (createPattern.test(path)) return method === "POST";
      const [match, id, cancel] = taskPattern.exec(path) ?? [];
      if (match === undefined || !(path.includes("/api/v1/tasks") || taskStore.has(dialect, pathPart(id))))
        return false;
      return cancel === undefined ? method === "GET" : method === "POST";
    },
    read(request) {
      if (!/^bearer\s+\S/i.test(request.headers["authorization"] ?? "")) {
        throw new Refusal(401, "Invalid API-key provided.", { code: "InvalidApiKey" });
      }
      const owner = { dialect, account: accountOf(request.headers) };
      if (createPattern.test(request.path)) return create(taskStore, owner, request);
      const [, id, cancel] = taskPattern.exec(request.path) ?? [];
      if (id === undefined) return list(taskStore, owner, request);
      return cancel === undefined ? poll(taskStore, owner, pathPart(id)) : stop(taskStore, owner, pathPart(id));
    },
    headers: ({ requestId }) => [["x-request-id", requestId]],
    error: ({ status, message, code }, requestId) =>
      JSON.stringify({ code: code ?? defaultCodes[status] ?? "InternalError", message, request_id: requestId }),
  };
}

const dialect = "dashscope-videos";
const createPattern = /\/services\/aigc\/(?:video-generation|image2video)\/video-synthesis$/;
const taskPattern = /\/tasks(?:\/([^/]+)(\/cancel)?)?$/;

const defaultCodes: Readonly<Record<number, string>> = {
  400: "InvalidParameter",
  401: "InvalidApiKey",
  403: "AccessDenied",
  404: "NotFound",
  429: "Throttling.RateQuota",
};

function create(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest): Exchange {
  if (request.headers["x-dashscope-async"] !== "enable") {
    throw new Refusal(403, "current user api does not support synchronous calls.", { code: "AccessDenied" });
  }
  const body = objectOf(parseObject(request.body));
  const input = objectOf(body["input"]);
  const parameters = objectOf(body["parameters"]);
  const { model, promptTokens, script, prompt } = readTask(body["model"], input["prompt"]);
  if (stringOf(body["model"]) === "") throw new Refusal(400, "Model not exist.", { code: "InvalidParameter" });
  const hasInput = ["img_url", "first_frame_url", "reference_urls", "template"].some(
    (name) => input[name] !== undefined,
  );
  if (prompt === "" && !hasInput && objectsOf(input["media"]).length === 0) {
    throw new Refusal(400, "Field required: input.prompt", { code: "InvalidParameter" });
  }
  const size = parameters["size"];
  if (size !== undefined && !/^\d+\*\d+$/.test(stringOf(size))) {
    throw new Refusal(400, `size is not in the form of 1280*720: ${JSON.stringify(size)}`, {
      code: "InvalidParameter",
    });
  }
  const seconds = countOf(parameters["duration"]) ?? 5;
  const fields = { prompt, rows: rowsOf(parameters) };
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(script) {
      const id = crypto.randomUUID();
      taskStore.accept({ ...owner, id, model, script, request, fields, seconds, tokens: 0 });
      return { request_id: crypto.randomUUID(), output: { task_id: id, task_status: "PENDING" } };
    },
  });
}

/** The shorter side in pixels, as usage reports it. */
function rowsOf(parameters: JsonObject): number {
  const [width = 1280, height = 720] = stringOf(parameters["size"]).split("*").map(Number);
  const resolution = Number.parseInt(stringOf(parameters["resolution"]), 10);
  return resolution || Math.min(width || 1280, height || 720);
}

/** An unknown task is not an error but a state. */
function poll(taskStore: TaskStore, owner: TaskOwner, id: string): Exchange {
  const task = taskStore.find(owner, id);
  const presetName = `${dialect} poll`;
  if (task === null) {
    const output = { task_id: id, task_status: "UNKNOWN" };
    return jsonExchange({ model: "", presetName, act: () => ({ request_id: crypto.randomUUID(), output }) });
  }
  return jsonExchange({ model: task.model, presetName, inherited: taskStore.poll(task), act: () => taskBody(task) });
}

function stop(taskStore: TaskStore, owner: TaskOwner, id: string): Exchange {
  const task = taskStore.find(owner, id);
  if (task === null) throw new Refusal(404, "The task does not exist.");
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    act() {
      if (viewTask(task, Date.now()).state !== "queued" || !cancelTask(task)) {
        throw new Refusal(400, "Failed to cancel the task, only PENDING ones can be.", {
          code: "UnsupportedOperation",
        });
      }
      return { request_id: crypto.randomUUID() };
    },
  });
}

function list(taskStore: TaskStore, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const query = new URLSearchParams(request.query);
  const page = Number(query.get("page_no") ?? 1) || 1;
  const size = Math.min(Number(query.get("page_size") ?? 10) || 10, 100);
  return jsonExchange({
    model: "",
    presetName: `${dialect} list`,
    act() {
      const matching = taskStore.list(owner).filter((task) => {
        const word = stateWord(task, viewTask(task, Date.now()), words);
        return (query.get("status") ?? word) === word && (query.get("model_name") ?? task.model) === task.model;
      });
      const data = matching.slice((page - 1) * size, page * size).map((task) => ({
        task_id: task.id,
        status: stateWord(task, viewTask(task, Date.now()), words),
        model_name: task.model,
        gmt_create: task.createdAt,
      }));
      return { request_id: crypto.randomUUID(), data, page_no: page, page_size: size, total: matching.length };
    },
  });
}

function taskBody(task: Task): JsonObject {
  const view = viewTask(task, Date.now());
  const done = view.state === "succeeded";
  const output = {
    task_id: task.id,
    task_status: stateWord(task, view, words),
    submit_time: timeOf(task.createdAt),
    ...(view.startedAt === null ? {} : { scheduled_time: timeOf(view.startedAt) }),
    ...(view.endedAt === null ? {} : { end_time: timeOf(view.endedAt) }),
    ...(done ? { orig_prompt: task.fields["prompt"], video_url: videoUrl(task, view) } : {}),
    ...(isOver(view) && !done && view.state !== "cancelled" ? taskError(task, "DataInspectionFailed") : {}),
  };
  const usage = { duration: task.seconds, video_duration: task.seconds, video_count: 1, SR: task.fields["rows"] };
  const usageField = done && task.script.no_usage !== true ? { usage } : {};
  return { request_id: crypto.randomUUID(), output, ...usageField };
}

/** The vendor's local time, without a time zone. */
function timeOf(at: number): string {
  return new Date(at + 8 * 3_600_000).toISOString().replace("T", " ").replace("Z", "");
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "PENDING",
  running: "RUNNING",
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  expired: "FAILED",
  cancelled: "CANCELED",
};
