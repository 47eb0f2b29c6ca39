import { readFile } from "node:fs/promises";
import type { ConfigFacts } from "#admin/index.ts";
import {
  ConfigInvalid,
  type ConfigWatch,
  type Environment,
  fileState,
  loadConfigFile,
  problemLine,
  redactedSource,
  type Variables,
  watchConfigFile,
} from "#config/index.ts";
import { bounds, sleep } from "#core/index.ts";
import { ConfigConflict } from "#directory/index.ts";
import type { ApplyReport, Broadcast, Clock, HeldLease, Observer, Vault } from "#ports/index.ts";
import { settingIsShown } from "#providers/index.ts";
import { configWarnings, kindCheck } from "./config-checks.ts";
import { CannotStart, type Control } from "./control.ts";
import type { Processes } from "./processes.ts";

/** A config file that another process applies: how long its content is waited for before it is called another. */
const configElsewhereMs = 15_000;

export interface ConfigSourceOptions {
  readonly file: string;
  readonly environment: Pick<Environment, "configPrune">;
  readonly variables: Variables;
  readonly control: Pick<Control, "clock" | "controlStore" | "facts" | "instanceId" | "leases"> & {
    readonly vault: Pick<Vault, "digest">;
  };
  readonly processes: Pick<Processes, "leadership"> & { readonly broadcast: Pick<Broadcast, "send" | "subscribe"> };
}

const [leaseName, fact] = ["config file", "config_file.applied"];

/** What was applied last: by whom, and what it said, as a digest. */
interface Applied {
  readonly by: string;
  readonly fence: number;
  readonly digest: string;
}

/** What became of a config file, and a line for each of its settings that is valid and cannot work. */
interface Outcome {
  readonly report: ApplyReport;
  readonly warnings: readonly string[];
}

type Loaded = Awaited<ReturnType<typeof loadConfigFile>>;

/**
 * The config file. Where several processes have one each, one of them applies its own; the others compare theirs with what was
 * applied, and say so when it is another. When the one ends, another applies its own. A single process leads by itself.
 */
export class ConfigSource {
  readonly #options: ConfigSourceOptions;
  #lease: HeldLease | null = null;
  #observer: Pick<Observer, "log" | "configReload"> | null = null;
  #changesSeen: () => Promise<void> = async () => undefined;
  #differs: Applied | null = null;
  /** The file as it was before this process read it first. */
  #state = "";
  /** What the start has read, until it is over. */
  #own: Loaded | null = null;
  /** The start is over: whatever becomes of the file now, this process goes on. */
  #isStarted = false;
  /** Refused before there was anybody to be told. */
  #refused: string | null = null;
  /** Applied before there was a log. */
  #appliedAtStart: Outcome = { report: [], warnings: [] };

  constructor(options: ConfigSourceOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the file is applied, here or by another process. A file that is refused stops a first start, and throws; where one was
   * applied before, that stays in force, since a gateway that ended for another reason must come back.
   */
  async start(): Promise<void> {
    const { file, processes } = this.#options;
    this.#state = await fileState(file);
    const own = await this.#loadAtStart();
    this.#own = own;
    const first = Promise.withResolvers<null>();
    // Whoever waits hears of it below.
    first.promise.catch(() => undefined);
    processes.leadership.lead(leaseName, async (lease) => {
      this.#lease = lease;
      try {
        await this.#takeOver(lease, first);
        await ended(lease.signal);
      } finally {
        this.#lease = null;
      }
    });
    if (own === null) return;
    try {
      const elsewhere = await Promise.race([first.promise, this.#appliedElsewhere()]);
      if (elsewhere !== null && elsewhere.digest !== this.#digestOf(own.config)) this.#differs = elsewhere;
    } finally {
      this.#isStarted = true;
      this.#own = null;
    }
  }

  /** This process applies its file from now on. Throws where that is to be tried again. */
  async #takeOver(lease: HeldLease, first: PromiseWithResolvers<null>): Promise<void> {
    try {
      if (await this.#apply()) first.resolve(null);
    } catch (thrown) {
      if (!this.#isStarted && !(await this.#mayGoOn(thrown))) return first.reject(thrown);
      if (!isRefusal(thrown)) throw thrown;
      this.#refuse(thrown);
      await this.#leaveInForce(lease);
      first.resolve(null);
    }
  }

  /** Null: it is refused, and what was applied before stays in force. */
  async #loadAtStart(): Promise<Loaded | null> {
    try {
      return await this.#load();
    } catch (thrown) {
      if (!isRefusal(thrown) || !(await this.#mayGoOn(thrown))) throw thrown;
      this.#refuse(thrown);
      this.#isStarted = true;
      return null;
    }
  }

  async #mayGoOn(thrown: unknown): Promise<boolean> {
    return isRefusal(thrown) && (await this.#applied()) !== null;
  }

  /** Why the file was refused at the start; null: it was not. */
  get refused(): string | null {
    return this.#refused;
  }

  /** What another process had applied stays in force. Who starts now waits for the word of whoever has the lease. */
  async #leaveInForce({ owner, fence }: HeldLease): Promise<void> {
    const { by, digest } = (await this.#applied()) ?? { by: owner, digest: "" };
    await this.#options.control.facts.write(fact, JSON.stringify({ by, fence, digest } satisfies Applied));
  }

  /** Goes on with the changes of the file, and with what others ask for. After `changesSeen` this process goes by what was written. */
  watch(observer: Observer, changesSeen: () => Promise<void>): ConfigWatch {
    const { file, control, processes } = this.#options;
    this.#observer = observer;
    logConfigWarnings(observer, this.#appliedAtStart);
    this.#changesSeen = changesSeen;
    if (this.#refused !== null) observer.configReload("refused", this.#refused);
    else if (this.#differs !== null) this.#tellOther(this.#differs);
    const watch = watchConfigFile(file, () => this.#changed(), {
      clock: control.clock,
      state: this.#state,
      onError: (thrown) => observer.log("error", "The config file could not be applied.", { error: thrown }),
    });
    const unsubscribe = processes.broadcast.subscribe("config", () => void (this.#lease === null || watch.trigger()));
    return {
      trigger: () => watch.trigger(),
      async close() {
        unsubscribe();
        await watch.close();
      },
    };
  }

  /** The file changed, or a HUP came. */
  async #changed(): Promise<void> {
    try {
      if (this.#lease?.isHeld === true) await this.#apply();
      else await this.#compare();
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      this.#refuse(thrown);
    }
  }

  /** False: the lease was lost before anything was applied. */
  async #apply(): Promise<boolean> {
    const { file, control, environment } = this.#options;
    const { config, warnings } = this.#own ?? (await this.#load());
    const lease = this.#lease;
    if (lease === null || !lease.isHeld) return false;
    const report = await control.controlStore.apply(config, `file ${file}`, {
      refuseLargeRemovals: !environment.configPrune,
    });
    const applied: Applied = { by: lease.owner, fence: lease.fence, digest: this.#digestOf(config) };
    await control.facts.write(fact, JSON.stringify(applied));
    const outcome = { report, warnings: warnings.map((warning) => problemLine(warning)) };
    if (this.#observer === null) this.#appliedAtStart = outcome;
    else logConfigWarnings(this.#observer, outcome);
    if (report.length === 0) this.#observer?.configReload("unchanged", file);
    else {
      await this.#changesSeen();
      this.#observer?.configReload("applied", report.map(({ text }) => text).join("; "));
    }
    return true;
  }

  /** Another process applies its file: it is asked to look now, and for a while it may still be about to get this content. */
  async #compare(): Promise<void> {
    const { file, control, processes } = this.#options;
    const digest = this.#digestOf((await this.#load()).config);
    processes.broadcast.send("config", "");
    const endMs = control.clock.monotonic() + configElsewhereMs;
    for (;;) {
      const applied = await this.#applied();
      if (applied?.digest === digest) {
        this.#observer?.configReload("unchanged", file);
        return;
      }
      if (this.#lease?.isHeld === true && (await this.#apply())) return;
      if (control.clock.monotonic() > endMs) {
        if (applied !== null) this.#tellOther(applied);
        return;
      }
      await sleep(control.clock, bounds.startTurnLookMs, null);
    }
  }

  #tellOther({ by }: Applied): void {
    const detail = `${this.#options.file} says something else than the config file that process ${by} has applied. It is not applied here; give every process the same file.`;
    this.#observer?.configReload("refused", detail);
  }

  #refuse(thrown: ConfigInvalid | ConfigConflict): void {
    const detail = thrown instanceof ConfigInvalid ? thrown.lines.join("\n") : thrown.message;
    if (this.#observer === null) this.#refused = detail;
    else this.#observer.configReload("refused", detail);
  }

  /** What the process that has the lease has applied under it. Null: it need not be known any more. */
  async #appliedElsewhere(): Promise<Applied | null> {
    const { control } = this.#options;
    const endMs = control.clock.monotonic() + bounds.startTurnMs;
    while (!this.#isStarted) {
      if (this.#lease === null) {
        const [holder, applied] = [await control.leases.holder(leaseName), await this.#applied()];
        if (holder !== null && holder.owner !== control.instanceId && applied?.fence === holder.fence) return applied;
        if (control.clock.monotonic() >= endMs) break;
      }
      await sleep(control.clock, bounds.startTurnLookMs, null);
    }
    if (this.#isStarted) return null;
    throw new CannotStart("Another gateway is applying its config file and does not come to an end; start again.");
  }

  async #applied(): Promise<Applied | null> {
    const text = await this.#options.control.facts.read(fact);
    return text === null ? null : (JSON.parse(text) as Applied);
  }

  #load(): Promise<Loaded> {
    const { file, variables, control } = this.#options;
    return loadConfigFile(file, variables, [kindCheck], configWarnings(control.clock.now()));
  }

  #digestOf(config: Loaded["config"]): string {
    return this.#options.control.vault.digest(`config file\n${JSON.stringify(config)}`);
  }
}

/** The lease may have been lost, or given up, while the file was being applied. */
function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function isRefusal(thrown: unknown): thrown is ConfigInvalid | ConfigConflict {
  return thrown instanceof ConfigInvalid || thrown instanceof ConfigConflict;
}

/** Logs at `warn` what the file no longer declares, by name, and each setting of it that cannot work. */
function logConfigWarnings(observer: Pick<Observer, "log">, { report, warnings }: Outcome): void {
  const objects = report.flatMap(({ action, text }) =>
    action === "suspend" || action === "release" || action === "remove" ? [text] : [],
  );
  if (objects.length > 0) observer.log("warn", "the config file no longer declares objects", { objects });
  for (const problem of warnings) observer.log("warn", "the config file has a setting that cannot work", { problem });
}

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

  /** An observer that also remembers the last reading here. `observer` must be a plain object: its methods are copied. */
  before(observer: Observer): Observer {
    return {
      ...observer,
      configReload: (result, detail) => {
        if (result !== "refused") this.#lastGoodAt = this.#clock.now();
        this.#last = { at: this.#clock.now(), result, detail };
        observer.configReload(result, detail);
      },
    };
  }
}
