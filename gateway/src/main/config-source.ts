import type { Variables } from "#config/index.ts";
import {
  ConfigInvalid,
  type ConfigWatch,
  type Environment,
  loadConfigFile,
  problemLine,
  watchConfigFile,
} from "#config/index.ts";
import { ConfigConflict, type ControlStore } from "#directory/index.ts";
import type { ApplyReport, Clock, Observer } from "#ports/index.ts";
import { configWarnings } from "./config-warnings.ts";
import type { Control } from "./control.ts";
import { kindCheck } from "./kind-check.ts";

export interface ConfigSourceOptions {
  readonly environment: Pick<Environment, "configPrune">;
  readonly variables: Variables;
  readonly controlStore: ControlStore;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly applied: () => Promise<void>;
  /** What `fileState` said before the file was applied first. */
  readonly state: string;
}

interface Applying {
  readonly environment: Pick<Environment, "configPrune">;
  readonly variables: Variables;
  readonly controlStore: ControlStore;
  readonly clock: Pick<Clock, "now">;
}

/** What became of a config file, and a line for each of its settings that is valid and cannot work. */
export interface AppliedConfig {
  readonly report: ApplyReport;
  readonly warnings: readonly string[];
}

/**
 * Applies the config file at the start. A file that is refused stops a first start; where an earlier one was applied, that stays in
 * force, since a gateway that ended for another reason must come back. `refused` says why then.
 */
export async function applyAtStart(
  file: string,
  options: Applying & Pick<Control, "facts">,
): Promise<AppliedConfig & { readonly refused: string | null }> {
  const { facts, clock } = options;
  try {
    const applied = await applyConfigFile(file, options);
    await facts.write(appliedFact, new Date(clock.now()).toISOString());
    return { ...applied, refused: null };
  } catch (thrown) {
    if (!isRefusal(thrown) || (await facts.read(appliedFact)) === null) throw thrown;
    return { report: [], warnings: [], refused: refusalText(thrown) };
  }
}

const appliedFact = "config_file.applied_at";

export function isRefusal(thrown: unknown): thrown is ConfigInvalid | ConfigConflict {
  return thrown instanceof ConfigInvalid || thrown instanceof ConfigConflict;
}

/** Every problem, a line each. */
export function refusalText(refusal: ConfigInvalid | ConfigConflict): string {
  return refusal instanceof ConfigInvalid ? refusal.lines.join("\n") : refusal.message;
}

/** Applies the config file once. Throws ConfigInvalid or ConfigConflict; then nothing was changed. */
async function applyConfigFile(
  file: string,
  { environment, variables, controlStore, clock }: Applying,
): Promise<AppliedConfig> {
  const { config, warnings } = await loadConfigFile(file, variables, [kindCheck], configWarnings(clock.now()));
  const report = await controlStore.apply(config, `file ${file}`, { refuseLargeRemovals: !environment.configPrune });
  return { report, warnings: warnings.map((warning) => problemLine(warning)) };
}

/** Logs at `warn` what the file no longer declares, by name, and each setting of it that cannot work. */
export function logConfigWarnings(observer: Pick<Observer, "log">, { report, warnings }: AppliedConfig): void {
  const objects = report.flatMap(({ action, text }) =>
    action === "suspend" || action === "release" || action === "remove" ? [text] : [],
  );
  if (objects.length > 0) observer.log("warn", "the config file no longer declares objects", { objects });
  for (const problem of warnings) observer.log("warn", "the config file has a setting that cannot work", { problem });
}

/** Re-applies the config file when it changes and at SIGHUP. An invalid file changes nothing and says why. */
export function watchConfig(file: string, options: ConfigSourceOptions): ConfigWatch {
  const { observer } = options;
  const reload = async (): Promise<void> => {
    try {
      const applied = await applyConfigFile(file, options);
      const { report } = applied;
      if (report.length === 0) observer.configReload("unchanged", file);
      else {
        await options.applied();
        observer.configReload("applied", report.map(({ text }) => text).join("; "));
      }
      logConfigWarnings(observer, applied);
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      observer.configReload("refused", refusalText(thrown));
    }
  };
  return watchConfigFile(file, reload, {
    clock: options.clock,
    state: options.state,
    onError: (thrown) => observer.log("error", "The config file could not be applied.", { error: thrown }),
  });
}
