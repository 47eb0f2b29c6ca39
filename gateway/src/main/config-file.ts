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
import type { ActiveLease, ApplyReport, Broadcast, Clock, Observer, Vault } from "#ports/index.ts";
import { settingIsShown } from "#providers/index.ts";
import { configWarnings, kindCheck } from "./config-checks.ts";
import { CannotStart, type Control } from "./control.ts";
import type { Processes } from "./processes.ts";

/** How long another process may take to apply the same content. */
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

/** Which content was applied last, and by which process. */
interface Applied {
  readonly by: string;
  readonly fence: number;
  readonly digest: string;
}

interface Outcome {
  readonly report: ApplyReport;
  /** Valid settings that do not work. */
  readonly warnings: readonly string[];
}

type Loaded = Awaited<ReturnType<typeof loadConfigFile>>;

/**
 * Applies the config file. If several processes have one, only the leader applies its file; the others compare theirs with it and report
 * differences. When the leader ends, another one takes over.
 */
export class ConfigSource {
  readonly #options: ConfigSourceOptions;
  #lease: ActiveLease | null = null;
  #observer: Pick<Observer, "log" | "configReload"> | null = null;
  #changesSeen: () => Promise<void> = async () => undefined;
  /** The config that another process applied at the start, if this process has a different file. */
  #differs: Applied | null = null;
  /** State of the file before this process first read it. */
  #state = "";
  /** The file as loaded at the start; null afterwards. */
  #loaded: Loaded | null = null;
  /** After the start a bad file does not end the process. */
  #isStarted = false;
  /** Why the file was refused at the start. */
  #refused: string | null = null;
  #appliedAtStart: Outcome = { report: [], warnings: [] };

  constructor(options: ConfigSourceOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the file is applied, here or by another process. Throws if the file is refused and none was applied before. Otherwise
   * the previous configuration is kept, so that a gateway restarts even with a bad file.
   */
  async start(): Promise<void> {
    const { file, processes } = this.#options;
    this.#state = await fileState(file);
    const loaded = await this.#loadAtStart();
    this.#loaded = loaded;
    const first = Promise.withResolvers<null>();
    first.promise.catch(() => undefined);
    processes.leadership.lead(leaseName, async (lease) => {
      this.#lease = lease;
      try {
        await this.#takeOver(lease, first);
        await aborted(lease.signal);
      } finally {
        this.#lease = null;
      }
    });
    if (loaded === null) return;
    try {
      const elsewhere = await Promise.race([first.promise, this.#appliedElsewhere()]);
      if (elsewhere !== null && elsewhere.digest !== this.#digestOf(loaded.config)) this.#differs = elsewhere;
    } finally {
      this.#isStarted = true;
      this.#loaded = null;
    }
  }

  /** This process becomes the leader. Throws an error that should be retried. */
  async #takeOver(lease: ActiveLease, first: PromiseWithResolvers<null>): Promise<void> {
    try {
      if (await this.#apply()) first.resolve(null);
    } catch (thrown) {
      if (!this.#isStarted && !(await this.#canKeepPrevious(thrown))) return first.reject(thrown);
      if (!isRefusal(thrown)) throw thrown;
      this.#refuse(thrown);
      await this.#keepPrevious(lease);
      first.resolve(null);
    }
  }

  /** null if the file is refused and the previous configuration is kept. */
  async #loadAtStart(): Promise<Loaded | null> {
    try {
      return await this.#load();
    } catch (thrown) {
      if (!isRefusal(thrown) || !(await this.#canKeepPrevious(thrown))) throw thrown;
      this.#refuse(thrown);
      this.#isStarted = true;
      return null;
    }
  }

  async #canKeepPrevious(thrown: unknown): Promise<boolean> {
    return isRefusal(thrown) && (await this.#applied()) !== null;
  }

  /** Why the file was refused at the start; null if it was not. */
  get refused(): string | null {
    return this.#refused;
  }

  /** Confirms the previous configuration under this lease, because processes that start wait for the leader. */
  async #keepPrevious({ owner, fence }: ActiveLease): Promise<void> {
    const { by, digest } = (await this.#applied()) ?? { by: owner, digest: "" };
    await this.#options.control.facts.write(fact, JSON.stringify({ by, fence, digest } satisfies Applied));
  }

  /** Follows changes of the file. `changesSeen` resolves when this process uses what was written. */
  watch(observer: Observer, changesSeen: () => Promise<void>): ConfigWatch {
    const { file, control, processes } = this.#options;
    this.#observer = observer;
    logConfigWarnings(observer, this.#appliedAtStart);
    this.#changesSeen = changesSeen;
    if (this.#refused !== null) observer.configReload("refused", this.#refused);
    else if (this.#differs !== null) this.#reportDifference(this.#differs);
    const watch = watchConfigFile(file, () => this.#changed(), {
      clock: control.clock,
      state: this.#state,
      onError: (thrown) => observer.log("error", "failed to apply the config file", { error: thrown }),
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

  /** The file changed, or SIGHUP was received. */
  async #changed(): Promise<void> {
    try {
      if (this.#lease?.isHeld === true) await this.#apply();
      else await this.#compare();
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      this.#refuse(thrown);
    }
  }

  /** Returns false if the lease was lost before. */
  async #apply(): Promise<boolean> {
    const { file, control, environment } = this.#options;
    const { config, warnings } = this.#loaded ?? (await this.#load());
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

  /** Asks the leader to check its file now, and waits a while until it has applied the same content. */
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
        if (applied !== null) this.#reportDifference(applied);
        return;
      }
      await sleep(control.clock, bounds.startTurnPollMs, null);
    }
  }

  #reportDifference({ by }: Applied): void {
    const detail = `${this.#options.file} differs from the config file that process ${by} applied, so it is ignored. Give every process the same file.`;
    this.#observer?.configReload("refused", detail);
  }

  #refuse(thrown: ConfigInvalid | ConfigConflict): void {
    const detail = thrown instanceof ConfigInvalid ? thrown.lines.join("\n") : thrown.message;
    if (this.#observer === null) this.#refused = detail;
    else this.#observer.configReload("refused", detail);
  }

  /** The config that the leader applied under its lease; null if this process is the leader. */
  async #appliedElsewhere(): Promise<Applied | null> {
    const { control } = this.#options;
    const endMs = control.clock.monotonic() + bounds.startTurnMs;
    while (!this.#isStarted) {
      if (this.#lease === null) {
        const [holder, applied] = [await control.leases.status(leaseName), await this.#applied()];
        if (holder !== null && holder.owner !== control.instanceId && applied?.fence === holder.fence) return applied;
        if (control.clock.monotonic() >= endMs) break;
      }
      await sleep(control.clock, bounds.startTurnPollMs, null);
    }
    if (this.#isStarted) return null;
    throw new CannotStart("Timed out while another gateway applies its config file; start again.");
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

/** Resolves when the signal aborts, or if it has. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function isRefusal(thrown: unknown): thrown is ConfigInvalid | ConfigConflict {
  return thrown instanceof ConfigInvalid || thrown instanceof ConfigConflict;
}

/** Logs which objects the file no longer declares, and which settings do not work. */
function logConfigWarnings(observer: Pick<Observer, "log">, { report, warnings }: Outcome): void {
  const objects = report.flatMap(({ action, text }) =>
    action === "suspend" || action === "release" || action === "remove" ? [text] : [],
  );
  if (objects.length > 0) observer.log("warn", "the config file no longer declares objects", { objects });
  for (const problem of warnings) observer.log("warn", "the config file has a setting that has no effect", { problem });
}

/** The config file for the console: its text without secrets, and the result of the last reload. */
export class ConfigFile implements ConfigFacts {
  readonly path: string | null;
  readonly #clock: Clock;
  readonly #variables: Variables;
  #last: ReturnType<ConfigFacts["lastReload"]> = null;
  /** When the file was last accepted; 0 if not since the start. */
  #lastGoodAt: number;

  /** `isApplied`: the file was applied at the start. */
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

  /** For `/readyz`; null if the file was accepted. */
  get remark(): string | null {
    if (this.#last?.result !== "refused") return null;
    return `the config file was refused at ${new Date(this.#last.at).toISOString()}`;
  }

  lastReload(): ReturnType<ConfigFacts["lastReload"]> {
    return this.#last;
  }

  /** An observer that records reloads here first. `observer` must be a plain object, because its methods are copied. */
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
