import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { stateWord, type Task, type TaskState, taskError, videoUrl, viewTask } from "../task.ts";
import { readTask } from "../task-asked.ts";
import type { TaskBook, TaskOwner } from "../task-desk.ts";
import { checkKlingToken } from "./kling-token.ts";

/** Kling: POST …/videos/{way}, GET …/videos/{way}/{task_id} (or the client's own id), and the list. There is no cancel. */
export function kling(taskBook: TaskBook, keys: Readonly<Record<string, string>>): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      const [found, , id] = pathPattern.exec(path) ?? [];
      return found !== undefined && (method === "GET" || (method === "POST" && id === undefined));
    },
    read(request) {
      const owner = { dialect, account: checkKlingToken(request, keys, Date.now()) };
      const [, way = "", id] = pathPattern.exec(request.path) ?? [];
      if (request.method === "POST") return create(taskBook, owner, request, way);
      return id === undefined ? list(taskBook, owner, request, way) : look(taskBook, owner, way, pathPart(id));
    },
    headers: ({ requestId }) => [["x-request-id", requestId]],
    error: ({ status, message, code }, requestId) =>
      JSON.stringify({ code: Number(code ?? usualCodes[status] ?? 5000), message, request_id: requestId }),
  };
}

/** The key pair that tokens are signed with when nobody says otherwise. */
export const klingKeysUsual: Readonly<Record<string, string>> = Object.freeze({
  AKKLINGEXAMPLE: "kling-secret-example",
});

const dialect = "kling";
const pathPattern =
  /\/videos\/(text2video|image2video|multi-image2video|omni-video|video-extend|lip-sync)(?:\/([^/]+))?$/;

const usualCodes: Readonly<Record<number, string>> = {
  400: "1201",
  401: "1000",
  403: "1103",
  404: "1203",
  429: "1302",
  503: "5001",
};

const toldStates: readonly TaskState[] = ["running", "succeeded", "failed"];

function create(taskBook: TaskBook, owner: TaskOwner, request: SimulatorRequest, way: string): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw invalid("the body is not a JSON object");
  const { model, prompt, promptTokens, script } = readTask(body["model_name"] ?? "kling-v1", body["prompt"]);
  checkFields(body, way, prompt);
  const seconds = Number(body["duration"] ?? "5");
  const clientId = stringOf(body["external_task_id"]) || null;
  const url = stringOf(body["callback_url"]);
  return jsonExchange({
    model,
    promptTokens,
    script,
    act(known) {
      const id = taskBook.number();
      const callback = url === "" ? null : { url, states: toldStates, body: dataOf };
      const draft = { ...owner, id, model, script: known, request, asked: { way }, seconds, tokens: 0 };
      return envelope(dataOf(taskBook.accept({ ...draft, clientId, callback })));
    },
  });
}

function checkFields(body: JsonObject, way: string, prompt: string): void {
  const { duration, mode, aspect_ratio: ratio, image } = body;
  if (way === "text2video" && prompt === "") throw invalid("prompt is required");
  if (way === "image2video" && stringOf(image) === "") throw invalid("image is required");
  if (stringOf(image).startsWith("data:")) throw invalid("image: base64 comes without a data: prefix");
  // The length is a text.
  if (duration !== undefined && !(typeof duration === "string" && /^(?:[3-9]|1[0-5])$/.test(duration))) {
    throw invalid("duration is not supported");
  }
  if (mode !== undefined && mode !== "std" && mode !== "pro") throw invalid("mode is std or pro");
  if (ratio !== undefined && !["16:9", "9:16", "1:1"].includes(stringOf(ratio))) {
    throw invalid("aspect_ratio is not supported");
  }
}

function look(taskBook: TaskBook, owner: TaskOwner, way: string, id: string): Exchange {
  const task = taskBook.find(owner, id) ?? taskBook.list(owner).find(({ clientId }) => clientId === id) ?? null;
  if (task === null || task.asked["way"] !== way) throw new Refusal(404, "task not found", { code: "1203" });
  return pollExchange(taskBook, task, dialect, () => envelope(dataOf(task)));
}

function list(taskBook: TaskBook, owner: TaskOwner, request: SimulatorRequest, way: string): Exchange {
  const query = new URLSearchParams(request.query);
  const page = Number(query.get("pageNum") ?? 1) || 1;
  const size = Math.min(Number(query.get("pageSize") ?? 30) || 30, 500);
  return jsonExchange({
    model: "",
    aside: `${dialect} list`,
    act() {
      const found = taskBook.list(owner).filter((task) => task.asked["way"] === way);
      return envelope(found.slice((page - 1) * size, page * size).map(dataOf));
    },
  });
}

/** Code 0 says that the call went well, also when the task has failed. */
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
