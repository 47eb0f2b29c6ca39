#!/usr/bin/env -S bun --no-env-file
/**
 * cli: the commands of `sluice`. They use the same stores as the admin API, with the actor `command line (user@host)` in the audit log,
 * and work while a gateway runs. A failed command prints one line and exits with 1; a wrong command line exits with 2.
 */
import { processVariables } from "#config/index.ts";
import { runCli } from "./program.ts";
import { createTerminal } from "./terminal.ts";

if (import.meta.main) await runProgram();

/** Runs the command line of this process and exits. */
export async function runProgram(): Promise<never> {
  const terminal = createTerminal(processVariables());
  process.exitCode = await runCli(process.argv.slice(2), terminal);
  // Timers or idle connections may remain; everything important is closed.
  await terminal.flushed();
  return process.exit();
}
