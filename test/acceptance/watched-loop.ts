import { join } from "node:path";
import runtimeEnvironment from "../../scripts/runtime-environment.json" with { type: "json" };
import { root } from "./child.ts";

export interface LoopReading {
  readonly longest_ms: number;
  readonly resident_bytes: number;
  readonly slowness: number;
}

/** Reads how much processor time a gateway's event loop spends in one turn; see loop-watch.ts. */
export class WatchedLoop {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** The environment of the gateway under test. */
  get environment(): Readonly<Record<string, string>> {
    return {
      // Compile as in production, because that affects the length of a turn.
      ...runtimeEnvironment,
      LOOP_WATCH_PORT: String(this.#port),
      BUN_OPTIONS: `--preload ${join(root, "test/acceptance/loop-watch.ts")}`,
      SLUICE_LOG_LEVEL: "error",
    };
  }

  /** The values since the last read. */
  async read(path = ""): Promise<LoopReading> {
    return (await (await fetch(`http://127.0.0.1:${this.#port}/${path}`)).json()) as LoopReading;
  }

  /** The longest turn since the last read. One above `boundMs` is converted to what it would take on the reference machine. */
  async longestTurnMs(boundMs: number): Promise<number> {
    const { longest_ms: longest } = await this.read();
    return longest < boundMs ? longest : longest / (await this.read("slowness")).slowness;
  }
}
