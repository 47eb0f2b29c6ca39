import type { Command } from "commander";
import { ConfigInvalid, loadConfigFile, problemLine } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
import { refuseConfig } from "../config-problems.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
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
