import { readFile } from "node:fs/promises";
import type { ConfigFacts } from "#admin/index.ts";
import { loadConfigFile, problemLine, redactedSource, type Variables } from "#config/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { settingIsShown } from "#providers/index.ts";
import { configWarnings } from "./config-warnings.ts";
import { kindCheck } from "./kind-check.ts";

/** What the console shows of the config file: its text without secrets, and how its last reading went. */
export class ConfigFile implements ConfigFacts {
  readonly path: string | null;
  readonly #clock: Clock;
  readonly #variables: Variables;
  #last: ReturnType<ConfigFacts["lastReload"]> = null;
  /** When the file was last read and not refused; 0: not since the start. */
  #lastGoodAt: number;

  /** `isApplied`: the start has applied it. */
  constructor(path: string | null, clock: Clock, variables: Variables, isApplied = true) {
    this.path = path;
    this.#clock = clock;
    this.#variables = variables;
    this.#lastGoodAt = isApplied ? clock.now() : 0;
  }

  async text(): Promise<string | null> {
    if (this.path === null) return null;
    try {
      return await redactedSource(await readFile(this.path, "utf8"), settingIsShown);
    } catch {
      return null;
    }
  }

  async warnings(): Promise<string[]> {
    if (this.path === null) return [];
    try {
      const warn = configWarnings(this.#clock.now());
      const { warnings } = await loadConfigFile(this.path, this.#variables, [kindCheck], warn);
      return warnings.map((warning) => problemLine(warning));
    } catch {
      return [];
    }
  }

  get isValid(): boolean {
    return this.#last?.result !== "refused";
  }

  get lastGoodAt(): number {
    return this.#lastGoodAt;
  }

  /** For `/readyz`; null: the file is in force. */
  get remark(): string | null {
    if (this.#last?.result !== "refused") return null;
    return `the config file was refused at ${new Date(this.#last.at).toISOString()}`;
  }

  lastReload(): ReturnType<ConfigFacts["lastReload"]> {
    return this.#last;
  }

  /** An observer that also remembers the last reading here. */
  before(observer: Observer): Observer {
    return {
      log: (level, message, fields) => observer.log(level, message, fields),
      attemptEnd: (entry, fault) => observer.attemptEnd(entry, fault),
      requestEnd: (end) => observer.requestEnd(end),
      breakerChange: (deploymentId, state, reason) => observer.breakerChange(deploymentId, state, reason),
      configReload: (result, detail) => {
        if (result !== "refused") this.#lastGoodAt = this.#clock.now();
        this.#last = { at: this.#clock.now(), result, detail };
        observer.configReload(result, detail);
      },
    };
  }
}
