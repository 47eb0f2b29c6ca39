import type { ConfigFile } from "@sluice/contract/config-file";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import type { ApplyReport, ConfigChange } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { environmentOf, withControl } from "../open.ts";
import { CommandFailed, CommandTold, CommandWrong } from "../terminal.ts";

export function addCheck(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("check")
    .description("say whether a config file is valid, and warn of what cannot work; nothing is changed")
    .option("--strict", "fail on warnings too")
    .argument("[file]", "YAML or JSON (default: SLUICE_CONFIG)")
    .action(async (given: string | undefined, options: { readonly strict?: boolean }, command: CliCommand) => {
      const file = given ?? (await environmentOf(terminal.variables)).configFile;
      if (file === null) throw new CommandWrong("name a config file, or set SLUICE_CONFIG");
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
    .description("make the objects of a config file real; a running gateway follows within two seconds")
    .argument("<file>", "YAML or JSON")
    .option("--prune", "suspend whatever the file no longer declares, however much it is")
    .option("--dry-run", "print what would change, and change nothing; status 2 when something would")
    .action(async (file: string, options: { prune?: boolean; dryRun?: boolean }, command: CliCommand) => {
      // Before the data directory is opened, so that a wrong file leaves no trace.
      const { config, warnings } = await load(file, command);
      if (!command.isJson) for (const each of warnings) terminal.complain(problemLine(each, "warning: "));
      const actor = `file ${file}`;
      if (options.dryRun === true) {
        const plan = await withControl(variables, ({ controlStore }) => controlStore.plan(config, actor));
        const { changes, unchanged } = shownPlan(plan.changes, config);
        const removals = plan.largeRemovals.map(({ message }) => message);
        const lines = [...planLines({ changes, unchanged }), ...removals.map((message) => `needs --prune: ${message}`)];
        const remarks = [...removals, ...warnings.map((each) => problemLine(each))];
        await command.report({ file, changes, unchanged, warnings: remarks }, lines);
        if (changes.length > 0) throw new CommandTold(2);
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

/** Reads a config file. Of one that is wrong, everything that is wrong with it is reported, and how much it is is the failure. */
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

/** What applying a config file would change, and how many of the objects that it declares would stay as they are. */
function shownPlan(report: ApplyReport, config: ConfigFile) {
  const changes = report.map(({ action, object, before, after }) => ({
    ...{ action, object },
    /** What would change, by field: before and after. */
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

/** An object that comes or goes is named, not spelled out. */
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
