#!/usr/bin/env -S bun --no-env-file
/**
 * cli: the commands of `sluice`. Commands that change something use the same stores as the admin API; the audit log shows
 * `command line (user@host)` as the actor. They work beside a running gateway. A failed command prints one line and exits with 1. A
 * wrong command line exits with 2.
 */
import { processVariables } from "#config/index.ts";
import { runCli } from "./program.ts";
import { createTerminal } from "./terminal.ts";

if (import.meta.main) await runProgram();

/** Runs the command line of this process, and ends it. */
export async function runProgram(): Promise<never> {
  const terminal = createTerminal(processVariables());
  process.exitCode = await runCli(process.argv.slice(2), terminal);
  // A server may have left timers or idle connections behind; all that matters is closed by now.
  await terminal.flushed();
  return process.exit();
}
