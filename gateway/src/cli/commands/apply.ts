import type { Command } from "commander";
import { ConfigInvalid, loadConfigFile } from "#config/index.ts";
import { refuseConfig } from "../config-problems.ts";
import { environmentOf, withControl } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addApply(program: Command, terminal: Terminal): void {
  program
    .command("apply")
    .description("make the objects of a config file real; a running gateway follows within two seconds")
    .argument("<file>", "YAML or JSON")
    .option("--prune", "suspend whatever the file no longer declares, however much it is")
    .action(async (file: string, options: { readonly prune?: boolean }, command: Command) => {
      const { kindCheck } = await import("#main.ts");
      // Before the data directory is opened, so that a wrong file leaves no trace.
      const { config } = await loadConfigFile(file, terminal.variables, [kindCheck]).catch((thrown: unknown) => {
        if (!(thrown instanceof ConfigInvalid)) throw thrown;
        return refuseConfig(terminal, command, file, thrown);
      });
      const prune = options.prune === true || (await environmentOf(terminal.variables)).configPrune;
      const done = await withControl(terminal.variables, (control) =>
        control.controlStore.apply(config, `file ${file}`, { prune }),
      );
      const changes = done.map(({ text }) => text);
      await report(terminal, command, { file, changes }, changes.length === 0 ? ["nothing changed"] : changes);
    });
}
