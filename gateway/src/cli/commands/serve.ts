import type { Command } from "commander";
import { ConfigInvalid, closestOf } from "#config/index.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";
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
      const environment = await environmentOf(variables);
      for (const warning of environment.warnings) terminal.complain(warning);
      const { serve } = await import("#main.ts");
      try {
        await serve(environment, {
          variables,
          version,
          print: (text) => terminal.show(text),
          interactive: terminal.interactive,
        });
      } catch (thrown) {
        throw await allProblems(thrown, terminal);
      }
    });
}

/** What is wrong with a config file is told whole, a line each, so that one look at it mends it. */
async function allProblems(thrown: unknown, terminal: Terminal): Promise<unknown> {
  const lines = await problemLines(thrown);
  if (lines.length < 2) return thrown;
  for (const line of lines) terminal.complain(line);
  return new CommandFailed("the config file is not valid (the lines above say why); nothing was started");
}

async function problemLines(thrown: unknown): Promise<readonly string[]> {
  if (thrown instanceof ConfigInvalid) return thrown.lines;
  const { ConfigConflict } = await import("#storage/index.ts");
  return thrown instanceof ConfigConflict ? thrown.message.split("\n") : [];
}

function unknownCommand(word: string, program: Command): CommandWrong {
  const names = program.commands.map((command) => command.name());
  if (names.includes(word)) return new CommandWrong("serve takes no arguments");
  const closest = closestOf(word, names);
  const hint = closest === null ? "see --help" : `did you mean ${closest}?`;
  return new CommandWrong(`unknown command ${JSON.stringify(word)}; ${hint}`);
}
