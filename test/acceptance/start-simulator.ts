import type { Script, TaskTruthRecord, TaskTruthState, TruthRecord, TruthState } from "@sluice/simulator";
import { programs } from "../programs.ts";
import { until } from "../until.ts";
import { startChild } from "./child.ts";

/** The simulator in its own process, with its control API. */
export interface SimulatorProcess {
  readonly port: number;
  /** The base URL for a provider. */
  readonly url: string;
  truth(filter?: {
    readonly attempt_id?: string;
    readonly model?: string;
    readonly limit?: number;
  }): Promise<TruthState>;
  /** All records since the last clear, once nothing is in flight. */
  settled(): Promise<readonly TruthRecord[]>;
  /** All tasks that were accepted, as the vendor will bill them. */
  tasks(): Promise<readonly TaskTruthRecord[]>;
  clear(): Promise<void>;
  /** Sets a script for the next `count` requests, or all, of a model, or of all models. */
  script(script: Script, options?: { readonly count?: number; readonly model?: string }): Promise<void>;
  stop(): Promise<void>;
}

export interface SimulatorSetup {
  readonly truthFile?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startSimulator({ truthFile, env = {} }: SimulatorSetup = {}): Promise<SimulatorProcess> {
  const args = truthFile === undefined ? [] : ["--truth", truthFile];
  const child = startChild(programs.simulator, args, env);
  const port = await until(() => {
    if (!child.running()) throw new Error(`the simulator ended:\n${child.output()}`);
    return portIn(child.output());
  });

  async function control(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${port}/__sim${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`simulator: ${await answer.text()}`);
    return answer.json();
  }

  async function truth(filter: Readonly<Record<string, string | number>> = {}): Promise<TruthState> {
    const query = new URLSearchParams(
      Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return (await control("GET", `/truth?${query}`)) as TruthState;
  }

  return {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    truth,
    async settled() {
      await until(async () => (await truth({ limit: 0 })).in_flight === 0);
      return (await truth()).data;
    },
    tasks: async () => ((await control("GET", "/tasks")) as TaskTruthState).data,
    clear: async () => void (await control("DELETE", "/truth")),
    script: async (script, { count, model } = {}) =>
      void (await control("POST", "/script", { script, count: count ?? null, model: model ?? null })),
    async stop() {
      child.signal("SIGTERM");
      await child.exited;
    },
  };
}

function portIn(output: string): number | null {
  const line = output.split("\n").find((one) => one.startsWith("{") && one.endsWith("}"));
  if (line === undefined) return null;
  const ready = JSON.parse(line) as { readonly port?: unknown };
  return typeof ready.port === "number" ? ready.port : null;
}
