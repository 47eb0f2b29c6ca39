import type { Variables } from "#config/index.ts";
import { ConfigInvalid, type ConfigWatch, type Environment, loadConfigFile, watchConfigFile } from "#config/index.ts";
import type { ApplyReport, Clock, ControlStore, Observer } from "#ports/index.ts";
import { ConfigConflict } from "#storage/index.ts";
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
}

/**
 * Applies the config file at the start. A file that is refused stops a first start; where an earlier one was applied, that stays in
 * force, since a gateway that ended for another reason must come back. `refused` says why then.
 */
export async function applyAtStart(
  file: string,
  options: Applying & Pick<Control, "facts" | "clock">,
): Promise<{ readonly report: ApplyReport; readonly refused: string | null }> {
  const { facts, clock } = options;
  try {
    const report = await applyConfigFile(file, options);
    await facts.write(appliedFact, new Date(clock.now()).toISOString());
    return { report, refused: null };
  } catch (thrown) {
    if (!isRefusal(thrown) || (await facts.read(appliedFact)) === null) throw thrown;
    return { report: [], refused: refusalText(thrown) };
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
async function applyConfigFile(file: string, { environment, variables, controlStore }: Applying): Promise<ApplyReport> {
  const { config } = await loadConfigFile(file, variables, [kindCheck]);
  return await controlStore.apply(config, `file ${file}`, { refuseLargeRemovals: !environment.configPrune });
}

/** Logs what the file no longer declares at `warn`, by name. */
export function logRemovals(observer: Pick<Observer, "log">, report: ApplyReport): void {
  const objects = report.flatMap(({ action, text }) =>
    action === "suspend" || action === "release" || action === "remove" ? [text] : [],
  );
  if (objects.length > 0) observer.log("warn", "the config file no longer declares objects", { objects });
}

/** Re-applies the config file when it changes and at SIGHUP. An invalid file changes nothing and says why. */
export function watchConfig(file: string, options: ConfigSourceOptions): ConfigWatch {
  const { observer } = options;
  const reload = async (): Promise<void> => {
    try {
      const report = await applyConfigFile(file, options);
      if (report.length === 0) {
        observer.configReload("unchanged", file);
        return;
      }
      await options.applied();
      observer.configReload("applied", report.map(({ text }) => text).join("; "));
      logRemovals(observer, report);
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
