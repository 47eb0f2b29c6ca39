import type { Command } from "commander";
import { closestOf } from "#config/index.ts";
import { serve } from "#main.ts";
import { CommandWrong } from "../command-failed.ts";
import { environmentOf } from "../open.ts";
import type { Terminal } from "../terminal.ts";
import { version } from "../version.ts";

/** What runs when no command is named. */
export function addServe(program: Command, terminal: Terminal): void {
  program
    .command("serve", { isDefault: true })
    .description("run the gateway (also what happens without a command)")
    .allowExcessArguments(true)
    .option("--dev", "log at level debug")
    .action(async (options: { readonly dev?: boolean }, command: Command) => {
      // As the default command it also gets every command line that begins with a word no command has.
      const [word] = command.args;
      if (word !== undefined) throw unknownCommand(word, program);
      const variables =
        options.dev === true ? { SLUICE_LOG_LEVEL: "debug", ...terminal.variables } : terminal.variables;
      const environment = environmentOf(variables);
      for (const warning of environment.warnings) terminal.complain(warning);
      await serve(environment, {
        variables,
        version,
        print: (text) => terminal.show(text),
        interactive: terminal.interactive,
      });
    });
}

function unknownCommand(word: string, program: Command): CommandWrong {
  const names = program.commands.map((command) => command.name());
  if (names.includes(word)) return new CommandWrong("serve takes no arguments");
  const closest = closestOf(word, names);
  const hint = closest === null ? "see --help" : `did you mean ${closest}?`;
  return new CommandWrong(`unknown command ${JSON.stringify(word)}; ${hint}`);
}
