import type { Command } from "commander";
import { ConfigInvalid, type Environment } from "#config/index.ts";
import type { ServeOptions } from "#main.ts";
import { CommandFailed, CommandTold } from "../command-failed.ts";
import { environmentOf } from "../open.ts";
import type { Terminal } from "../terminal.ts";
import { readRevision, version } from "../version.ts";

export function addServe(program: Command, terminal: Terminal): void {
  program
    .command("serve")
    .description("run the gateway")
    .option("--dev", "log at level debug")
    .action(async (options: { readonly dev?: boolean }) => {
      const variables =
        options.dev === true ? { SLUICE_LOG_LEVEL: "debug", ...terminal.variables } : terminal.variables;
      const environment = await environmentOf(variables);
      for (const warning of environment.warnings) terminal.complain(warning);
      const revision = readRevision();
      const serving = { variables, version, revision, print: terminal.show, interactive: terminal.interactive };
      if (environment.workers === 1) return await serveAlone(environment, serving, terminal);
      const { serveWorkers } = await import("#main.ts");
      const status = await serveWorkers(environment, { ...serving, command: workerCommand() });
      if (status !== 0) throw new CommandTold(status);
    });
  program
    .command("worker", { hidden: true })
    .description("run one of the workers of `serve`")
    .option("--interactive", "a person reads what is printed")
    .action(async (options: { readonly interactive?: boolean }) => {
      const { variables } = terminal;
      const environment = await environmentOf(variables);
      const { serveWorker } = await import("#main.ts");
      try {
        const interactive = options.interactive === true;
        const revision = readRevision();
        await serveWorker(environment, { variables, version, revision, print: terminal.show, interactive });
      } catch (thrown) {
        throw await allProblems(thrown, terminal);
      }
    });
}

async function serveAlone(environment: Environment, serving: ServeOptions, terminal: Terminal): Promise<void> {
  const { serve } = await import("#main.ts");
  try {
    await serve(environment, serving);
  } catch (thrown) {
    throw await allProblems(thrown, terminal);
  }
}

/** This program again, in the way in which it was started. */
function workerCommand(): readonly string[] {
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main];
  return [process.execPath, ...program, "worker"];
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
  const { ConfigConflict } = await import("#directory/index.ts");
  return thrown instanceof ConfigConflict ? thrown.message.split("\n") : [];
}
