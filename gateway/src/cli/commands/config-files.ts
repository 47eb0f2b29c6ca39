import type { ConfigFile } from "@sluice/contract/config-file";
import type { Command } from "commander";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import type { ApplyReport, ConfigChange } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { CommandFailed, CommandTold, CommandWrong } from "../command-failed.ts";
import { environmentOf, withControl } from "../open.ts";
import { report, wantsJson } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addCheck(program: Command, terminal: Terminal): void {
  program
    .command("check")
    .description("say whether a config file is valid, and warn of what cannot work; nothing is changed")
    .option("--strict", "fail on warnings too")
    .argument("[file]", "YAML or JSON (default: SLUICE_CONFIG)")
    .action(async (given: string | undefined, options: { readonly strict?: boolean }, command: Command) => {
      const file = given ?? (await environmentOf(terminal.variables)).configFile;
      if (file === null) throw new CommandWrong("name a config file, or set SLUICE_CONFIG");
      const { configWarnings, kindCheck } = await import("#main.ts");
      try {
        const warn = configWarnings(systemClock.now());
        const { config, warnings } = await loadConfigFile(file, terminal.variables, [kindCheck], warn);
        const counts = {
          providers: config.providers?.length ?? 0,
          models: config.models?.length ?? 0,
          workspaces: config.workspaces?.length ?? 0,
          keys: (config.workspaces ?? []).reduce((sum, workspace) => sum + (workspace.keys?.length ?? 0), 0),
        };
        const inWords = Object.entries(counts).map(
          ([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`,
        );
        await report(terminal, command, { file, valid: true, problems: [], warnings, ...counts }, [
          ...warnings.map((warning) => problemLine(warning, "warning: ")),
          `${file} is valid: ${inWords.join(", ")}`,
        ]);
        if (options.strict === true && warnings.length > 0) {
          throw new CommandFailed(`${file} has ${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}`);
        }
      } catch (thrown) {
        if (!(thrown instanceof ConfigInvalid)) throw thrown;
        await refuseConfig(terminal, command, file, thrown);
      }
    });
}

interface ApplyCommandOptions {
  readonly prune?: boolean;
  readonly dryRun?: boolean;
}

export function addApply(program: Command, terminal: Terminal): void {
  program
    .command("apply")
    .description("make the objects of a config file real; a running gateway follows within two seconds")
    .argument("<file>", "YAML or JSON")
    .option("--prune", "suspend whatever the file no longer declares, however much it is")
    .option("--dry-run", "print what would change, and change nothing; status 2 when something would")
    .action(async (file: string, options: ApplyCommandOptions, command: Command) => {
      const { configWarnings, kindCheck } = await import("#main.ts");
      // Before the data directory is opened, so that a wrong file leaves no trace.
      const warn = configWarnings(systemClock.now());
      const loading = loadConfigFile(file, terminal.variables, [kindCheck], warn);
      const { config, warnings } = await loading.catch((thrown: unknown) => {
        if (!(thrown instanceof ConfigInvalid)) throw thrown;
        return refuseConfig(terminal, command, file, thrown);
      });
      if (!wantsJson(command)) for (const each of warnings) terminal.complain(problemLine(each, "warning: "));
      const actor = `file ${file}`;
      if (options.dryRun === true) {
        const existing = { create: false };
        const plan = await withControl(
          terminal.variables,
          ({ controlStore }) => controlStore.plan(config, actor),
          existing,
        );
        const { changes, unchanged } = shownPlan(plan.changes, config);
        const removals = plan.largeRemovals.map(({ message }) => message);
        const lines = [...planLines({ changes, unchanged }), ...removals.map((message) => `needs --prune: ${message}`)];
        await report(
          terminal,
          command,
          { file, changes, unchanged, warnings: [...removals, ...warnings.map((each) => problemLine(each))] },
          lines,
        );
        if (changes.length > 0) throw new CommandTold(2);
        return;
      }
      const prune = options.prune === true || (await environmentOf(terminal.variables)).configPrune;
      const done = await withControl(
        terminal.variables,
        (control) => control.controlStore.apply(config, actor, { refuseLargeRemovals: !prune }),
        { create: true },
      );
      const changes = done.map(({ text }) => text);
      await report(
        terminal,
        command,
        { file, changes, warnings },
        changes.length === 0 ? ["nothing changed"] : changes,
      );
    });
}

export function addSchema(program: Command, terminal: Terminal): void {
  program
    .command("schema")
    .description("print the JSON Schema of the config file, for editors")
    .action(async () => {
      const { configJsonSchemaText } = await import("@sluice/contract");
      await terminal.write(configJsonSchemaText());
    });
}

/** Tells everything that is wrong with a config file, and fails with how much it is. */
async function refuseConfig(terminal: Terminal, command: Command, file: string, thrown: ConfigInvalid): Promise<never> {
  const count = thrown.problems.length + thrown.unlisted;
  await report(terminal, command, { file, valid: false, problems: thrown.problems, count }, thrown.lines);
  throw new CommandFailed(`${file} is invalid: ${count} ${count === 1 ? "problem" : "problems"}`);
}

/** What applying a config file would do, for people and for machines. */
interface PlanShown {
  readonly changes: readonly PlannedChange[];
  /** Objects that the file declares and that would stay as they are. */
  readonly unchanged: number;
}

interface PlannedChange {
  readonly action: ConfigChange["action"];
  readonly object: string;
  /** What would change, by field: before and after. */
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}

function shownPlan(changes: ApplyReport, config: ConfigFile): PlanShown {
  const planned = changes.map(({ action, object, before, after }) => ({
    action,
    object,
    fields: differing(before, after),
  }));
  const declared = new Set(planned.filter(({ action }) => !removals.has(action)).map(({ object }) => object));
  return { changes: planned, unchanged: Math.max(0, declaredObjects(config) - declared.size) };
}

function planLines({ changes, unchanged }: PlanShown): readonly string[] {
  if (changes.length === 0) return [`no changes; ${unchanged} unchanged`];
  const lines = changes.flatMap(({ action, object, fields }) => [
    `${marks[action] ?? "~"} ${action} ${object}`,
    ...Object.entries(fields).map(
      ([name, [before, after]]) => `    ${name}: ${valueText(before)} -> ${valueText(after)}`,
    ),
  ]);
  return [...lines, `${changes.length} to change, ${unchanged} unchanged; nothing was applied`];
}

const removals: ReadonlySet<string> = new Set(["suspend", "release", "remove", "revoke"]);

const marks: Readonly<Record<string, string>> = { create: "+", resume: "+", suspend: "-", remove: "-", revoke: "-" };

/** An object that comes or goes is named, not spelled out. */
function differing(before: ConfigChange["before"], after: ConfigChange["after"]): PlannedChange["fields"] {
  if (before === null || after === null) return {};
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  names.delete("managed_by");
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, [before[name] ?? null, after[name] ?? null] as const]));
}

function valueText(value: unknown): string {
  return value === null ? "(none)" : JSON.stringify(value);
}

function declaredObjects(config: ConfigFile): number {
  const { providers = [], models = [], workspaces = [], users = [], tokens = [], oidc = [] } = config;
  const within = workspaces.reduce(
    (sum, { groups = [], keys = [] }) => sum + Math.max(1, groups.length) + keys.length,
    0,
  );
  return [providers, models, workspaces, users, tokens, oidc].reduce((sum, { length }) => sum + length, within);
}
