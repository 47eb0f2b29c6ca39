import type { Command } from "commander";
import { ConfigInvalid, loadConfigFile } from "#config/index.ts";
import { CommandWrong } from "../command-failed.ts";
import { refuseConfig } from "../config-problems.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addCheck(program: Command, terminal: Terminal): void {
  program
    .command("check")
    .description("say whether a config file is valid; nothing is changed")
    .argument("[file]", "YAML or JSON (default: SLUICE_CONFIG)")
    .action(async (given: string | undefined, _options: object, command: Command) => {
      const file = given ?? (await environmentOf(terminal.variables)).configFile;
      if (file === null) throw new CommandWrong("name a config file, or set SLUICE_CONFIG");
      const { kindCheck } = await import("#main.ts");
      try {
        const { config } = await loadConfigFile(file, terminal.variables, [kindCheck]);
        const counts = {
          providers: config.providers?.length ?? 0,
          models: config.models?.length ?? 0,
          workspaces: config.workspaces?.length ?? 0,
          keys: (config.workspaces ?? []).reduce((sum, workspace) => sum + (workspace.keys?.length ?? 0), 0),
        };
        const inWords = Object.entries(counts).map(
          ([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`,
        );
        await report(terminal, command, { file, valid: true, problems: [], ...counts }, [
          `${file} is valid: ${inWords.join(", ")}`,
        ]);
      } catch (thrown) {
        if (!(thrown instanceof ConfigInvalid)) throw thrown;
        await refuseConfig(terminal, command, file, thrown);
      }
    });
}
