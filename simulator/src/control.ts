import { bounds } from "./bounds.ts";
import { readScript, ScriptInvalid } from "./script.ts";
import type { Preset, ScriptSource } from "./script-source.ts";
import type { TaskTruth, TaskTruthFilter } from "./task-truth.ts";
import type { Truth } from "./truth.ts";

export interface ControlAnswer {
  readonly status: number;
  readonly body: string;
}

export interface ControlOptions {
  readonly truth: Truth;
  readonly tasks: Pick<TaskTruth, "list" | "clear">;
  readonly source: ScriptSource;
  readonly flush: () => void;
}

/** The control API under /__sim, for tests that run the simulator in another process. */
export function answerControl(
  call: { readonly method: string; readonly path: string; readonly query: string; readonly body: Uint8Array },
  parts: ControlOptions,
): ControlAnswer {
  const route = `${call.method} ${call.path}`;
  switch (route) {
    case "GET /__sim/health":
      return { status: 200, body: '{"ok":true}' };
    case "GET /__sim/truth":
      parts.flush();
      return { status: 200, body: JSON.stringify(parts.truth.list(filterOf(call.query)), replacerFor(call.query)) };
    case "DELETE /__sim/truth":
      parts.truth.clear();
      return { status: 200, body: '{"ok":true}' };
    case "GET /__sim/tasks":
      return { status: 200, body: JSON.stringify(parts.tasks.list(taskFilterOf(call.query))) };
    case "DELETE /__sim/tasks":
      parts.tasks.clear();
      return { status: 200, body: '{"ok":true}' };
    case "POST /__sim/script":
      return addPreset(parts.source, call.body);
    case "DELETE /__sim/script":
      parts.source.clear();
      return { status: 200, body: '{"ok":true}' };
    default:
      return { status: 404, body: '{"error":"the simulator has no such endpoint"}' };
  }
}

function filterOf(query: string): { attemptId?: string; model?: string; limit: number } {
  const fields = new URLSearchParams(query);
  const attemptId = fields.get("attempt_id");
  const model = fields.get("model");
  return {
    ...(attemptId === null ? {} : { attemptId }),
    ...(model === null ? {} : { model }),
    limit: limitOf(fields, bounds.truthListMax),
  };
}

function taskFilterOf(query: string): TaskTruthFilter {
  const fields = new URLSearchParams(query);
  const field = (name: string): string | undefined => fields.get(name) ?? undefined;
  return {
    account: field("account"),
    model: field("model"),
    attemptId: field("attempt_id"),
    clientTaskId: field("client_task_id"),
    limit: limitOf(fields, bounds.taskListMax),
  };
}

function limitOf(fields: URLSearchParams, max: number): number {
  const limit = Number(fields.get("limit") ?? max);
  return Number.isInteger(limit) && limit >= 0 ? limit : max;
}

/** `texts=0` omits the bodies' texts. */
function replacerFor(query: string): ((name: string, value: unknown) => unknown) | undefined {
  if (new URLSearchParams(query).get("texts") !== "0") return undefined;
  return (name, value) => (name === "body_text" || name === "reply_text" ? undefined : value);
}

/** Body: {"script": {…}, "count": 3 | null, "model": "name" | null}; without a count it applies to all. */
function addPreset(source: ScriptSource, body: Uint8Array): ControlAnswer {
  try {
    source.add(readPreset(JSON.parse(Buffer.from(body).toString("utf8"))));
    return { status: 200, body: '{"ok":true}' };
  } catch (thrown) {
    const reason = thrown instanceof ScriptInvalid ? thrown.message : "the body is not JSON";
    return { status: 400, body: JSON.stringify({ error: reason }) };
  }
}

function readPreset(value: unknown): Preset {
  if (typeof value !== "object" || value === null) throw new ScriptInvalid("the preset must be a JSON object");
  const fields: { script?: unknown; count?: unknown; model?: unknown } = value;
  const count = fields.count ?? null;
  const model = fields.model ?? null;
  if (count !== null && !(typeof count === "number" && Number.isInteger(count) && count > 0)) {
    throw new ScriptInvalid("count must be a whole number above 0, or null");
  }
  if (model !== null && typeof model !== "string") throw new ScriptInvalid("model must be a string, or null");
  return { script: readScript(fields.script), count, model };
}
