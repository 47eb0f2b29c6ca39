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
import { CommandFailed, ReportedFailure, type Terminal } from "../terminal.ts";
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
      for (const warning of environment.warnings) terminal.printError(warning);
      const revision = readRevision();
      const serving = { variables, version, revision, print: terminal.print, interactive: terminal.interactive };
      if (environment.workers === 1) {
        const { serve } = await import("#main.ts");
        return await reportingAllProblems(terminal, () => serve(environment, serving));
      }
      const { serveWorkers } = await import("#main.ts");
      const status = await serveWorkers(environment, { ...serving, command: workerCommand() });
      if (status !== 0) throw new ReportedFailure(status);
    });
  program
    .command("worker", { hidden: true })
    .description("run one of the workers of `serve`")
    .option("--interactive", "standard output is a terminal")
    .action(async (options: { readonly interactive?: boolean }) => {
      const { variables } = terminal;
      const environment = await environmentOf(variables);
      const { serveWorker } = await import("#main.ts");
      const serving = { variables, version, revision: readRevision(), print: terminal.print };
      const interactive = options.interactive === true;
      await reportingAllProblems(terminal, () => serveWorker(environment, { ...serving, interactive }));
    });
}

/** The command line of this program for a worker. */
function workerCommand(): readonly string[] {
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main];
  return [process.execPath, ...program, "worker"];
}

/** Prints every problem of a config file on its own line. */
async function reportingAllProblems(terminal: Terminal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    const lines = await problemLines(thrown);
    if (lines.length < 2) throw thrown;
    for (const line of lines) terminal.printError(line);
    throw new CommandFailed("the config file is invalid (see the lines above)");
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
    .description("run a temporary gateway that answers offline and deletes its data at the end")
    .action(async () => {
      const { serve } = await import("#main.ts");
      const { SLUICE_CONFIG: _, ...others } = terminal.variables;
      const folder = mkdtempSync(join(tmpdir(), "sluice-demo-"));
      const variables = {
        ...others,
        SLUICE_DATA_DIR: folder,
        SLUICE_DRAIN_GRACE_MS: "0",
        // Kept in memory only, so no secrets stay on disk if the demo is killed.
        SLUICE_MASTER_KEY: randomBytes(32).toString("base64url"),
      };
      try {
        // Handles signals from here on. Ignores the provider keys of the environment, so that nothing leaves the machine.
        await serve(readEnvironment(variables), {
          variables,
          version,
          revision: readRevision(),
          print: (text) => terminal.print(text),
          interactive: terminal.interactive,
        });
      } finally {
        await remove(folder);
      }
    });
}

/** A thread that is ending may still write; then the runtime leaves the folder without an error. */
async function remove(folder: string): Promise<void> {
  for (let tries = 0; tries < removalsMax && existsSync(folder); tries++) {
    if (tries > 0) await new Promise<void>((resolve) => void systemClock.after(removalPauseMs, resolve));
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
  if (existsSync(folder)) throw new CommandFailed(`failed to delete ${folder}`);
}

const removalsMax = 40;
const removalPauseMs = 50;

export function addSimulate(program: CliCommand): void {
  program
    .command("simulate")
    .description("run a simulated provider over HTTP, for tests")
    .option("--host <address>", "where to listen", hostName, "127.0.0.1")
    .option("--port <number>", "0 for any free port", portNumber, 0)
    .option("--truth <file>", "write a JSON line for each request to this file")
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
