import type { Command } from "commander";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { CommandTold } from "../command-failed.ts";
import { planLines, shownPlan } from "../config-plan.ts";
import { refuseConfig } from "../config-problems.ts";
import { environmentOf, withControl } from "../open.ts";
import { report, wantsJson } from "../report.ts";
import type { Terminal } from "../terminal.ts";

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
