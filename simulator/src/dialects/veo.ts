import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { readTask } from "../parsed-task.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import { accountOfKey } from "../seal.ts";
import { isOver, linkExpiry, type Task, taskError, videoFile, videoUrl, viewTask } from "../task.ts";
import type { TaskStore } from "../task-store.ts";
import { fileBytes } from "./files.ts";
import { googleError, googleHeaders, requireBearer, requireGoogleKey } from "./google-conventions.ts";
import { checkVeo } from "./veo-rules.ts";

/**
 * Veo: …/models/{m}:predictLongRunning, GET …/models/{m}/operations/{id}, and a download that requires the key and redirects to a
 * link. On Vertex: …:fetchPredictOperation, with the video in the answer. Presets apply to polls as `veo poll`.
 */
export function veo(taskStore: TaskStore): Dialect {
  return {
    id: dialect,
    matches: ({ method, path }) =>
      (method === "POST" && callPattern.test(path)) ||
      (method === "GET" && (pollPattern.test(path) || downloadPattern.test(path))),
    read(request) {
      const vertex = request.path.includes("/publishers/");
      if (vertex) requireBearer(request);
      else requireGoogleKey(request);
      const [, model, method] = callPattern.exec(request.path) ?? [];
      if (method === "predictLongRunning") return create(taskStore, request, pathPart(model), vertex);
      if (method === "fetchPredictOperation") {
        const name = stringOf(objectOf(parseObject(request.body))["operationName"]);
        return poll(taskStore, requireTask(taskStore, request, name.slice(name.lastIndexOf("/") + 1)));
      }
      const id = pollPattern.exec(request.path)?.[1];
      if (id !== undefined) return poll(taskStore, requireTask(taskStore, request, pathPart(id)));
      return download(requireTask(taskStore, request, pathPart(downloadPattern.exec(request.path)?.[1])));
    },
    headers: googleHeaders,
    error: googleError,
  };
}

const dialect = "veo";
const callPattern = /\/models\/(.+):(predictLongRunning|fetchPredictOperation)$/;
const pollPattern = /\/models\/.+\/operations\/([^/]+)$/;
const downloadPattern = /\/files\/([^/:]+):download$/;

/** Keys identify accounts. On Vertex tokens change every hour, so the project identifies the account. */
function ownerOf({ path, headers, query }: SimulatorRequest): { dialect: string; account: string } {
  const project = /\/(projects\/[^/]+)\//.exec(path)?.[1];
  const key = headers["x-goog-api-key"] ?? new URLSearchParams(query).get("key") ?? headers["authorization"] ?? "";
  return { dialect, account: project ?? accountOfKey(key) };
}

function create(taskStore: TaskStore, request: SimulatorRequest, model: string, vertex: boolean): Exchange {
  const body = objectOf(parseObject(request.body));
  const instance = objectsOf(body["instances"])[0] ?? {};
  const parameters = objectOf(body["parameters"]);
  checkVeo(instance, parameters, vertex);
  const parsed = readTask(model, instance["prompt"]);
  const seconds = Number(parameters["durationSeconds"] ?? 8);
  const samples = Number(parameters["sampleCount"] ?? 1);
  return jsonExchange({
    model: parsed.model,
    promptTokens: parsed.promptTokens,
    script: parsed.script,
    act(script) {
      const id = taskStore.uniqueCode(12);
      const { path } = request;
      // The name consists of the model's path, from the project or "models" on, and the operation's id.
      const from = vertex ? path.indexOf("/projects/") : path.lastIndexOf("/models/");
      const name = `${decodeURIComponent(path.slice(from + 1, path.lastIndexOf(":")))}/operations/${id}`;
      const fields = { name, samples, vertex, prefix: path.slice(0, from), bucket: stringOf(parameters["storageUri"]) };
      const task = { id, model: parsed.model, script, request, fields, seconds, tokens: 0 };
      taskStore.accept({ ...ownerOf(request), ...task });
      return { name };
    },
  });
}

function poll(taskStore: TaskStore, task: Task): Exchange {
  return pollExchange(taskStore, task, dialect, () => operationBody(task));
}

/** The field `done` is missing until the operation has ended. */
function operationBody(task: Task): JsonObject {
  const view = viewTask(task, Date.now());
  const { name } = task.fields;
  if (!isOver(view)) return { name };
  if (view.state !== "succeeded") {
    const { code, message } = taskError(task, "13");
    return { name, done: true, error: { code: Number(code) || 13, message } };
  }
  return { name, done: true, response: task.fields["vertex"] === true ? vertexVideos(task) : geminiVideos(task) };
}

function filtered({ script, fields }: Task): JsonObject {
  return { raiMediaFilteredCount: fields["samples"], raiMediaFilteredReasons: [script.blocked] };
}

function geminiVideos(task: Task): JsonObject {
  const type = "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse";
  if (task.script.blocked !== undefined) return { "@type": type, generateVideoResponse: filtered(task) };
  const uri = `${task.base}${task.fields["prefix"]}/files/${task.id}:download?alt=media`;
  return { "@type": type, generateVideoResponse: { generatedSamples: samplesOf(task, () => ({ video: { uri } })) } };
}

function vertexVideos(task: Task): JsonObject {
  const type = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";
  if (task.script.blocked !== undefined) return { "@type": type, ...filtered(task) };
  const bucket = stringOf(task.fields["bucket"]);
  const mimeType = "video/mp4";
  if (bucket !== "") {
    const gcs = (index: number): JsonObject => ({ gcsUri: `${bucket}/${task.id}/sample_${index}.mp4`, mimeType });
    return { "@type": type, videos: samplesOf(task, gcs) };
  }
  const source = fileBytes(videoFile(task, 0));
  const bytesBase64Encoded = Buffer.from(source.piece(0, source.size)).toString("base64");
  return { "@type": type, videos: samplesOf(task, () => ({ bytesBase64Encoded, mimeType })) };
}

function samplesOf(task: Task, sampleAt: (index: number) => JsonObject): readonly JsonObject[] {
  return Array.from({ length: Number(task.fields["samples"]) }, (_, index) => sampleAt(index));
}

function download(task: Task): Exchange {
  const view = viewTask(task, Date.now());
  if (view.state !== "succeeded" || Date.now() >= linkExpiry(task, view)) {
    throw new Refusal(404, `File ${task.id} was not found.`);
  }
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} content`,
    status: 302,
    rows: [["location", videoUrl(task, view)]],
    act: () => undefined,
  });
}

function requireTask(taskStore: TaskStore, request: SimulatorRequest, id: string): Task {
  const task = taskStore.find(ownerOf(request), id);
  if (task === null) throw new Refusal(404, `Operation ${id} was not found.`);
  return task;
}
