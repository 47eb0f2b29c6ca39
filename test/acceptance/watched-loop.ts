import { join } from "node:path";
import runtimeEnvironment from "../../scripts/runtime-environment.json" with { type: "json" };
import { root } from "./child.ts";

export interface Watched {
  readonly longest_ms: number;
  readonly resident_bytes: number;
  readonly slowness: number;
}

/** What a gateway's event loop spends between two of its turns, in processor time; see loop-watch.ts. */
export class WatchedLoop {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** For the gateway that is watched. */
  get environment(): Readonly<Record<string, string>> {
    return {
      // Compiled as at its users': how long a turn takes depends on it.
      ...runtimeEnvironment,
      LOOP_WATCH_PORT: String(this.#port),
      BUN_OPTIONS: `--preload ${join(root, "test/acceptance/loop-watch.ts")}`,
      SLUICE_LOG_LEVEL: "error",
    };
  }

  /** What was seen since it was last asked. */
  async look(path = ""): Promise<Watched> {
    return (await (await fetch(`http://127.0.0.1:${this.#port}/${path}`)).json()) as Watched;
  }

  /** Since the last look. One above `boundMs` is given as long as it would be on the machine that the bound was set on. */
  async longestTurnMs(boundMs: number): Promise<number> {
    const { longest_ms: longest } = await this.look();
    return longest < boundMs ? longest : longest / (await this.look("slowness")).slowness;
  }
}
