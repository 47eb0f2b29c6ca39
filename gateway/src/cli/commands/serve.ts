import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigInvalid, readEnvironment } from "#config/index.ts";
import { systemClock } from "#system/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { environmentOf } from "../open.ts";
import { hostName, portNumber } from "../option-readers.ts";
import { CommandFailed, CommandTold, type Terminal } from "../terminal.ts";
import { readRevision, version } from "../version.ts";

export function addServe(program: CliCommand): void {
  const { terminal } = program;
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
      if (environment.workers === 1) {
        const { serve } = await import("#main.ts");
        return await tellingAllProblems(terminal, () => serve(environment, serving));
      }
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
      const serving = { variables, version, revision: readRevision(), print: terminal.show };
      const interactive = options.interactive === true;
      await tellingAllProblems(terminal, () => serveWorker(environment, { ...serving, interactive }));
    });
}

/** This program again, in the way in which it was started. */
function workerCommand(): readonly string[] {
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main];
  return [process.execPath, ...program, "worker"];
}

/** What is wrong with a config file is told whole, a line each, so that one look at it mends it. */
async function tellingAllProblems(terminal: Terminal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    const lines = await problemLines(thrown);
    if (lines.length < 2) throw thrown;
    for (const line of lines) terminal.complain(line);
    throw new CommandFailed("the config file is not valid (the lines above say why); nothing was started");
  }
}

async function problemLines(thrown: unknown): Promise<readonly string[]> {
  if (thrown instanceof ConfigInvalid) return thrown.lines;
  const { ConfigConflict } = await import("#directory/index.ts");
  return thrown instanceof ConfigConflict ? thrown.message.split("\n") : [];
}

export function addDemo(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("demo")
    .description("run a throw-away gateway that answers offline and forgets everything at its end")
    .action(async () => {
      const { serve } = await import("#main.ts");
      const { SLUICE_CONFIG: _, ...others } = terminal.variables;
      const folder = mkdtempSync(join(tmpdir(), "sluice-demo-"));
      const variables = {
        ...others,
        SLUICE_DATA_DIR: folder,
        SLUICE_DRAIN_GRACE_MS: "0",
        // Never on the disk: a demo that is killed leaves a folder that nobody can read the secrets of.
        SLUICE_MASTER_KEY: randomBytes(32).toString("base64url"),
      };
      try {
        // Signals are listened for from here on: no pause lies between the folder and this call.
        // Without the vendors' variables, so that nothing leaves the machine.
        await serve(readEnvironment(variables), {
          variables,
          version,
          revision: readRevision(),
          print: (text) => terminal.show(text),
          interactive: terminal.interactive,
        });
      } finally {
        await remove(folder);
      }
    });
}

/** A thread that is just ending may write beside us, and the runtime then says nothing and leaves the folder. */
async function remove(folder: string): Promise<void> {
  for (let tries = 0; tries < removalsMax && existsSync(folder); tries++) {
    if (tries > 0) await new Promise<void>((resolve) => void systemClock.after(removalPauseMs, resolve));
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
  if (existsSync(folder)) throw new CommandFailed(`${folder} could not be removed`);
}

const removalsMax = 40;
const removalPauseMs = 50;

export function addSimulate(program: CliCommand): void {
  program
    .command("simulate")
    .description("run a pretended provider over HTTP, for tests and trials")
    .option("--host <address>", "where to listen", hostName, "127.0.0.1")
    .option("--port <number>", "0 takes any free one", portNumber, 0)
    .option("--truth <file>", "write what was served to this file, one JSON line each")
    .action(async ({ host, port, truth }: { host: string; port: number; truth?: string }, command: CliCommand) => {
      const { serveSimulator } = await import("@sluice/simulator");
      const stopped = Promise.withResolvers<void>();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.resolve());
      const running = serveSimulator({
        ...{ hostname: host, port },
        ...(truth === undefined ? {} : { truthFile: truth }),
      });
      try {
        await command.report({ url: running.url, port: running.port }, [
          `The simulator answers on ${running.url} (any key, any model). Stop it with Ctrl-C.`,
        ]);
        await stopped.promise;
      } finally {
        running.stop();
      }
    });
}
