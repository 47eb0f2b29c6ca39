import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, objectOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import { pathPart } from "../path-part.ts";
import { pollExchange } from "../poll-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import {
  frameUrl,
  stateWord,
  type Task,
  type TaskState,
  type TaskView,
  taskError,
  videoUrl,
  viewTask,
} from "../task.ts";
import { cancelTask, removeTask, type TaskOwner, type TaskStore } from "../task-store.ts";
import type { ArkAccounts } from "./ark-accounts.ts";
import type { ArkAssetStore } from "./ark-asset-store.ts";
import { arkError, arkHeaders, requireArkKey } from "./ark-conventions.ts";
import { type ArkMaterial, invalid } from "./ark-task-content.ts";
import { type ArkTaskRequest, readArkTask } from "./ark-task-request.ts";

/** Ark's video tasks (Seedance): POST, GET and DELETE …/contents/generations/tasks, for the API key's account. */
export function arkTasks(parts: ArkTaskOptions): Dialect {
  return {
    id: dialect,
    matches({ method, path }) {
      const match = pathPattern.exec(path);
      if (match === null) return false;
      return match[1] === undefined ? method === "POST" || method === "GET" : method === "GET" || method === "DELETE";
    },
    read(request) {
      const account = parts.accounts.ofKey(requireArkKey(request));
      const id = pathPattern.exec(request.path)?.[1];
      const owner = { dialect, account };
      if (id !== undefined) return request.method === "GET" ? poll(parts, owner, id) : remove(parts, owner, id);
      return request.method === "GET" ? list(parts, owner, request) : create(parts, owner, request);
    },
    headers: arkHeaders,
    error: arkError,
  };
}

export interface ArkTaskOptions {
  readonly taskStore: TaskStore;
  readonly accounts: ArkAccounts;
  readonly assets: ArkAssetStore;
}

const dialect = "ark-tasks";
const pathPattern = /\/contents\/generations\/tasks(?:\/([^/]+))?$/;

function create(parts: ArkTaskOptions, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const read = readArkTask(request);
  const { model, promptTokens, seconds, tokens, expiresMs, lastFrame, callbackUrl } = read;
  return jsonExchange({
    model,
    promptTokens,
    script: read.script,
    act(script) {
      checkReferences(parts, owner, read);
      const id = `cgt-${clockMark(Date.now())}-${parts.taskStore.uniqueCode(5)}`;
      const seed = read.shown["seed"] ?? Number.parseInt(id.slice(-5), 36);
      const fields = { shown: { ...read.shown, seed }, lastFrame };
      const callback = callbackUrl === null ? null : { url: callbackUrl, states: callbackStates, body: taskBody };
      parts.taskStore.accept({ ...owner, id, model, script, request, fields, seconds, tokens, expiresMs, callback });
      return { id };
    },
  });
}

const callbackStates: readonly TaskState[] = ["running", "succeeded", "failed", "expired"];

/** `20260708094649`, in UTC. */
function clockMark(now: number): string {
  return new Date(now).toISOString().replace(/\D/g, "").slice(0, 14);
}

function checkReferences({ taskStore, assets }: ArkTaskOptions, owner: TaskOwner, { content }: ArkTaskRequest): void {
  for (const [index, material] of content.materials.entries()) {
    if (material.asset !== null) checkAsset(assets, owner.account, material, `content[${index}]`);
  }
  if (content.draftTask === null) return;
  const draft = taskStore.find(owner, content.draftTask);
  if (draft === null || viewTask(draft, Date.now()).state !== "succeeded" || shownFields(draft)["draft"] !== true) {
    throw invalid("draft_task", "is no draft that has succeeded");
  }
}

/** Assets must be active, belong to the same account, and be of the item's kind. */
function checkAsset(assets: ArkAssetStore, account: string, { asset, kind }: ArkMaterial, at: string): void {
  const match = assets.usable(account, asset ?? "");
  if (match === null) throw invalid(at, `refers to the asset ${asset}, which does not exist in this account`);
  if (match.type.toLowerCase() !== kind) throw invalid(at, `refers to the asset ${asset}, which is no ${kind}`);
  if (match.status !== "Active") throw invalid(at, `refers to the asset ${asset}, which is ${match.status}`);
}

function poll({ taskStore }: ArkTaskOptions, owner: TaskOwner, id: string): Exchange {
  const task = requireTask(taskStore, owner, id);
  return pollExchange(taskStore, task, dialect, () => taskBody(task));
}

/** Cancels a queued task, refuses to cancel a running one, and deletes the record of one that has ended. */
function remove({ taskStore }: ArkTaskOptions, owner: TaskOwner, id: string): Exchange {
  const task = requireTask(taskStore, owner, id);
  return jsonExchange({
    model: task.model,
    presetName: `${dialect} cancel`,
    act() {
      const { state } = viewTask(task, Date.now());
      if (state === "running" || state === "cancelled") {
        throw new Refusal(409, `The task is ${state} and can not be deleted.`, {
          code: "OperationDenied.InvalidState",
        });
      }
      if (state === "queued") cancelTask(task);
      else removeTask(task);
      return {};
    },
  });
}

function list({ taskStore }: ArkTaskOptions, owner: TaskOwner, request: SimulatorRequest): Exchange {
  const query = new URLSearchParams(request.query);
  const page = numberIn(query, "page_num", 1, Number.MAX_SAFE_INTEGER);
  const size = numberIn(query, "page_size", 10, bounds.tasksPageMax);
  return jsonExchange({
    model: "",
    presetName: `${dialect} list`,
    act() {
      const matching = taskStore.list(owner).filter((task) => matches(task, query));
      return { total: matching.length, items: matching.slice((page - 1) * size, page * size).map(taskBody) };
    },
  });
}

function matches(task: Task, query: URLSearchParams): boolean {
  const ids = query.getAll("filter.task_ids");
  const isEqual = (name: string, value: unknown): boolean => (query.get(name) ?? value) === value;
  return (
    (ids.length === 0 || ids.includes(task.id)) &&
    isEqual("filter.status", viewTask(task, Date.now()).state) &&
    isEqual("filter.model", task.model) &&
    isEqual("filter.service_tier", shownFields(task)["service_tier"])
  );
}

function numberIn(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const value = Number(query.get(name) ?? fallback);
  if (!Number.isInteger(value) || value < 1 || value > max) throw invalid(name, `is no number from 1 to ${max}`);
  return value;
}

function requireTask(taskStore: TaskStore, owner: TaskOwner, id: string): Task {
  const task = taskStore.find(owner, pathPart(id));
  if (task !== null) return task;
  throw new Refusal(404, `The specified task ${id} is not found.`, { param: "id", code: "NotFound.Task" });
}

function taskBody(task: Task, at = Date.now()): JsonObject {
  const view = viewTask(task, at);
  const done = view.state === "succeeded";
  const usage = usageOf(task);
  return {
    id: task.id,
    model: task.model,
    status: stateWord(task, view, words),
    ...(view.state === "failed" ? { error: taskError(task, "OutputVideoSensitiveContentDetected") } : { error: null }),
    ...(done ? { content: contentOf(task, view) } : {}),
    ...(done && usage !== null ? { usage } : {}),
    created_at: Math.floor(task.createdAt / 1000),
    updated_at: Math.floor(view.changedAt / 1000),
    ...shownFields(task),
  };
}

function contentOf(task: Task, view: TaskView): JsonObject {
  const last = task.fields["lastFrame"] === true ? { last_frame_url: frameUrl(task, view) } : {};
  return { video_url: videoUrl(task, view), ...last };
}

function usageOf({ script, tokens }: Task): JsonObject | null {
  if (script.no_usage === true) return null;
  const reported = script.zero_usage === true ? 0 : tokens;
  return { completion_tokens: reported, total_tokens: reported };
}

function shownFields(task: Task): JsonObject {
  return objectOf(task.fields["shown"]);
}

const words: Readonly<Record<TaskState, string>> = {
  queued: "queued",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  expired: "expired",
  cancelled: "cancelled",
};
