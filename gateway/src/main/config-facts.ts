import { readFile } from "node:fs/promises";
import type { ConfigFacts } from "#admin/index.ts";
import { redactedSource } from "#config/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { settingIsShown } from "#providers/index.ts";

/** What the console shows of the config file: its text without secrets, and how its last reading went. */
export class ConfigFile implements ConfigFacts {
  readonly path: string | null;
  readonly #clock: Clock;
  #last: ReturnType<ConfigFacts["lastReload"]> = null;

  constructor(path: string | null, clock: Clock) {
    this.path = path;
    this.#clock = clock;
  }

  async text(): Promise<string | null> {
    if (this.path === null) return null;
    try {
      return await redactedSource(await readFile(this.path, "utf8"), settingIsShown);
    } catch {
      return null;
    }
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
        this.#last = { at: this.#clock.now(), result, detail };
        observer.configReload(result, detail);
      },
    };
  }
}
