import type { Command } from "commander";
import { ConfigInvalid, loadConfigFile } from "#config/index.ts";
import { refuseConfig } from "../config-problems.ts";
import { withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addApply(program: Command, terminal: Terminal): void {
  program
    .command("apply")
    .description("make the objects of a config file real; a running gateway follows within two seconds")
    .argument("<file>", "YAML or JSON")
    .action(async (file: string, _options: object, command: Command) => {
      const { kindCheck } = await import("#main.ts");
      // Before the data directory is opened, so that a wrong file leaves no trace.
      const { config } = await loadConfigFile(file, terminal.variables, [kindCheck]).catch((thrown: unknown) => {
        if (!(thrown instanceof ConfigInvalid)) throw thrown;
        return refuseConfig(terminal, command, file, thrown);
      });
      const changes = await withControl(terminal.variables, (control) =>
        control.controlStore.apply(config, `file ${file}`),
      );
      await report(terminal, command, { file, changes }, changes.length === 0 ? ["nothing changed"] : changes);
    });
}
