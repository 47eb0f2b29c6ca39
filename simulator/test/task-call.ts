import type { RunningSimulator, Script, TaskTruthRecord } from "../src/index.ts";

/** Scripts that hold a task in one state. */
export const stuck = {
  queued: { queued_ms: 600_000 },
  running: { queued_ms: 0, running_ms: 600_000 },
  done: { queued_ms: 0, running_ms: 0 },
  failed: { queued_ms: 0, running_ms: 0, ends: "failed" },
} as const satisfies Readonly<Record<string, Script>>;

export interface TaskCall {
  readonly method?: string;
  readonly body?: unknown;
  readonly script?: Script;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TaskAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** A JSON answer whose values are found by path; a missing value is undefined. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  at(...path: readonly (string | number)[]): unknown {
    let here = this.value;
    for (const key of path) here = isRecord(here) ? here[key] : undefined;
    return here;
  }

  /** The string at this path. Throws if there is none. */
  text(...path: readonly (string | number)[]): string {
    const value = this.at(...path);
    if (typeof value !== "string") throw new Error(`no text at ${path.join(".")} of ${JSON.stringify(this.value)}`);
    return value;
  }
}

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}

/** Makes one call with fetch: a POST if there is a body. Does not follow redirects. */
export async function taskCall(running: RunningSimulator, path: string, call: TaskCall = {}): Promise<TaskAnswer> {
  const script = call.script === undefined ? {} : { "x-sim-script": JSON.stringify(call.script) };
  const url = path.startsWith("http") ? path : `http://127.0.0.1:${running.port}${path}`;
  const answer = await fetch(url, {
    method: call.method ?? (call.body === undefined ? "GET" : "POST"),
    headers: { "content-type": "application/json", ...script, ...call.headers },
    redirect: "manual",
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: new Json(text === "" ? "" : JSON.parse(text)) };
}

/** The simulator's record of a task. */
export function truthOf(running: RunningSimulator, id: string): TaskTruthRecord | undefined {
  return running.simulator.tasks.list().data.find((task) => task.id === id);
}
