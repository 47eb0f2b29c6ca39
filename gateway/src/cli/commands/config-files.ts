import type { ConfigFile } from "@sluice/contract/config-file";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import type { ApplyReport, ConfigChange } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { environmentOf, withControl } from "../open.ts";
import { CommandFailed, ReportedFailure, UsageError } from "../terminal.ts";

export function addCheck(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("check")
    .description("validate a config file and warn about settings that have no effect")
    .option("--strict", "fail on warnings too")
    .argument("[file]", "YAML or JSON (default: SLUICE_CONFIG)")
    .action(async (given: string | undefined, options: { readonly strict?: boolean }, command: CliCommand) => {
      const file = given ?? (await environmentOf(terminal.variables)).configFile;
      if (file === null) throw new UsageError("name a config file, or set SLUICE_CONFIG");
      const { config, warnings } = await load(file, command);
      const { providers = [], models = [], workspaces = [] } = config;
      const counts = {
        ...{ providers: providers.length, models: models.length, workspaces: workspaces.length },
        keys: workspaces.reduce((sum, workspace) => sum + (workspace.keys?.length ?? 0), 0),
      };
      const inWords = Object.entries(counts).map(([name, count]) => counted(count, name.slice(0, -1)));
      await command.report({ file, valid: true, problems: [], warnings, ...counts }, [
        ...warnings.map((warning) => problemLine(warning, "warning: ")),
        `${file} is valid: ${inWords.join(", ")}`,
      ]);
      if (options.strict === true && warnings.length > 0) {
        throw new CommandFailed(`${file} has ${counted(warnings.length, "warning")}`);
      }
    });
}

export function addApply(program: CliCommand): void {
  const { terminal } = program;
  const { variables } = terminal;
  program
    .command("apply")
    .description("apply a config file; a running gateway uses it within two seconds")
    .argument("<file>", "YAML or JSON")
    .option("--prune", "suspend objects that the file no longer declares, even if they are many")
    .option("--dry-run", "print the changes without applying them; exits with 2 if there are any")
    .action(async (file: string, options: { prune?: boolean; dryRun?: boolean }, command: CliCommand) => {
      // Before the data directory is opened, so that an invalid file changes nothing.
      const { config, warnings } = await load(file, command);
      if (!command.isJson) for (const each of warnings) terminal.printError(problemLine(each, "warning: "));
      const actor = `file ${file}`;
      if (options.dryRun === true) {
        const plan = await withControl(variables, ({ controlStore }) => controlStore.plan(config, actor));
        const { changes, unchanged } = shownPlan(plan.changes, config);
        const removals = plan.largeRemovals.map(({ message }) => message);
        const lines = [...planLines({ changes, unchanged }), ...removals.map((message) => `needs --prune: ${message}`)];
        const remarks = [...removals, ...warnings.map((each) => problemLine(each))];
        await command.report({ file, changes, unchanged, warnings: remarks }, lines);
        if (changes.length > 0) throw new ReportedFailure(2);
        return;
      }
      const prune = options.prune === true || (await environmentOf(variables)).configPrune;
      const done = await withControl(
        variables,
        ({ controlStore }) => controlStore.apply(config, actor, { refuseLargeRemovals: !prune }),
        { create: true },
      );
      const changes = done.map(({ text }) => text);
      const lines = changes.length === 0 ? ["nothing changed"] : changes;
      await command.report({ file, changes, warnings }, lines);
    });
}

export function addSchema(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("schema")
    .description("print the JSON Schema of the config file, for editors")
    .action(async () => {
      const { configJsonSchemaText } = await import("@sluice/contract");
      await terminal.write(configJsonSchemaText());
    });
}

/** Reports every problem of an invalid file and throws with their number. */
async function load(file: string, command: CliCommand): ReturnType<typeof loadConfigFile> {
  const { configWarnings, kindCheck } = await import("#main.ts");
  try {
    return await loadConfigFile(file, command.terminal.variables, [kindCheck], configWarnings(systemClock.now()));
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    const count = thrown.problems.length + thrown.unlisted;
    await command.report({ file, valid: false, problems: thrown.problems, count }, thrown.lines);
    throw new CommandFailed(`${file} is invalid: ${counted(count, "problem")}`);
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** The changes that a config file would make, and how many declared objects would stay the same. */
function shownPlan(report: ApplyReport, config: ConfigFile) {
  const changes = report.map(({ action, object, before, after }) => ({
    ...{ action, object },
    /** Changed fields: before and after. */
    fields: differing(before, after),
  }));
  const declared = new Set(changes.filter(({ action }) => !removals.has(action)).map(({ object }) => object));
  return { changes, unchanged: Math.max(0, declaredObjects(config) - declared.size) };
}

function planLines({ changes, unchanged }: ReturnType<typeof shownPlan>): readonly string[] {
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

/** Created and removed objects are not listed by field. */
function differing(before: ConfigChange["before"], after: ConfigChange["after"]) {
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
