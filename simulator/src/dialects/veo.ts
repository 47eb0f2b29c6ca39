import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOfKey } from "../seal.ts";
import { isOver, linkExpiry, type Task, taskError, videoFile, videoUrl, viewTask } from "../task.ts";
import { readTask } from "../task-asked.ts";
import type { TaskBook } from "../task-desk.ts";
import { fileBytes } from "./files.ts";
import { googleError, googleHeaders, requireBearer, requireGoogleKey } from "./google-conventions.ts";
import { checkVeo } from "./veo-rules.ts";

/**
 * Veo: …/models/{m}:predictLongRunning, then GET …/models/{m}/operations/{id} and a download that wants the key and sends
 * on to a link; on Vertex …:fetchPredictOperation, and the bytes in the answer. Presets reach looks as `veo poll`.
 */
export function veo(taskBook: TaskBook): Dialect {
  return {
    id: dialect,
    matches: ({ method, path }) =>
      (method === "POST" && callPattern.test(path)) ||
      (method === "GET" && (lookPattern.test(path) || downloadPattern.test(path))),
    read(request) {
      const vertex = request.path.includes("/publishers/");
      if (vertex) requireBearer(request);
      else requireGoogleKey(request);
      const [, model, method] = callPattern.exec(request.path) ?? [];
      if (method === "predictLongRunning") return create(taskBook, request, pathPart(model), vertex);
      if (method === "fetchPredictOperation") {
        const name = stringOf(objectOf(parseObject(request.body))["operationName"]);
        return look(taskBook, known(taskBook, request, name.slice(name.lastIndexOf("/") + 1)));
      }
      const id = lookPattern.exec(request.path)?.[1];
      if (id !== undefined) return look(taskBook, known(taskBook, request, pathPart(id)));
      return download(known(taskBook, request, pathPart(downloadPattern.exec(request.path)?.[1])));
    },
    headers: googleHeaders,
    error: googleError,
  };
}

const dialect = "veo";
const callPattern = /\/models\/(.+):(predictLongRunning|fetchPredictOperation)$/;
const lookPattern = /\/models\/.+\/operations\/([^/]+)$/;
const downloadPattern = /\/files\/([^/:]+):download$/;

/** Keys are accounts. Tokens change by the hour, so on Vertex the project is one. */
function ownerOf({ path, headers, query }: SimulatorRequest): { dialect: string; account: string } {
  const project = /\/(projects\/[^/]+)\//.exec(path)?.[1];
  const key = headers["x-goog-api-key"] ?? new URLSearchParams(query).get("key") ?? headers["authorization"] ?? "";
  return { dialect, account: project ?? accountOfKey(key) };
}

function create(taskBook: TaskBook, request: SimulatorRequest, model: string, vertex: boolean): Exchange {
  const body = objectOf(parseObject(request.body));
  const instance = objectsOf(body["instances"])[0] ?? {};
  const parameters = objectOf(body["parameters"]);
  checkVeo(instance, parameters, vertex);
  const asked = readTask(model, instance["prompt"]);
  const seconds = Number(parameters["durationSeconds"] ?? 8);
  const samples = Number(parameters["sampleCount"] ?? 1);
  return jsonExchange({
    model: asked.model,
    promptTokens: asked.promptTokens,
    script: asked.script,
    act(script) {
      const id = taskBook.mark(12);
      const { path } = request;
      // The name is the path of the model, from the project on or from "models" on, and the operation's own.
      const from = vertex ? path.indexOf("/projects/") : path.lastIndexOf("/models/");
      const name = `${decodeURIComponent(path.slice(from + 1, path.lastIndexOf(":")))}/operations/${id}`;
      const told = { name, samples, vertex, prefix: path.slice(0, from), bucket: stringOf(parameters["storageUri"]) };
      const task = { id, model: asked.model, script, request, asked: told, seconds, tokens: 0 };
      taskBook.accept({ ...ownerOf(request), ...task });
      return { name };
    },
  });
}

function look(taskBook: TaskBook, task: Task): Exchange {
  return pollExchange(taskBook, task, dialect, () => operationBody(task));
}

/** Until it is done the operation does not say so. */
function operationBody(task: Task): JsonObject {
  const view = viewTask(task, Date.now());
  const { name } = task.asked;
  if (!isOver(view)) return { name };
  if (view.state !== "succeeded") {
    const { code, message } = taskError(task, "13");
    return { name, done: true, error: { code: Number(code) || 13, message } };
  }
  return { name, done: true, response: task.asked["vertex"] === true ? vertexVideos(task) : geminiVideos(task) };
}

function filtered({ script, asked }: Task): JsonObject {
  return { raiMediaFilteredCount: asked["samples"], raiMediaFilteredReasons: [script.blocked] };
}

function geminiVideos(task: Task): JsonObject {
  const type = "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse";
  if (task.script.blocked !== undefined) return { "@type": type, generateVideoResponse: filtered(task) };
  const uri = `${task.base}${task.asked["prefix"]}/files/${task.id}:download?alt=media`;
  return { "@type": type, generateVideoResponse: { generatedSamples: samplesOf(task, () => ({ video: { uri } })) } };
}

function vertexVideos(task: Task): JsonObject {
  const type = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";
  if (task.script.blocked !== undefined) return { "@type": type, ...filtered(task) };
  const bucket = stringOf(task.asked["bucket"]);
  const mimeType = "video/mp4";
  if (bucket !== "") {
    const gcs = (index: number): JsonObject => ({ gcsUri: `${bucket}/${task.id}/sample_${index}.mp4`, mimeType });
    return { "@type": type, videos: samplesOf(task, gcs) };
  }
  const source = fileBytes(videoFile(task, 0));
  const bytesBase64Encoded = Buffer.from(source.piece(0, source.size)).toString("base64");
  return { "@type": type, videos: samplesOf(task, () => ({ bytesBase64Encoded, mimeType })) };
}

function samplesOf(task: Task, made: (index: number) => JsonObject): readonly JsonObject[] {
  return Array.from({ length: Number(task.asked["samples"]) }, (_, index) => made(index));
}

function download(task: Task): Exchange {
  const view = viewTask(task, Date.now());
  if (view.state !== "succeeded" || Date.now() >= linkExpiry(task, view)) {
    throw new Refusal(404, `File ${task.id} was not found.`);
  }
  return jsonExchange({
    model: task.model,
    aside: `${dialect} content`,
    status: 302,
    rows: [["location", videoUrl(task, view)]],
    act: () => undefined,
  });
}

function known(taskBook: TaskBook, request: SimulatorRequest, id: string): Task {
  const task = taskBook.find(ownerOf(request), id);
  if (task === null) throw new Refusal(404, `Operation ${id} was not found.`);
  return task;
}
