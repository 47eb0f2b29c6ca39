#!/usr/bin/env -S bun --no-env-file
import { processVariables } from "#config/index.ts";
import { runCli } from "./run-cli.ts";
import { createTerminal } from "./terminal.ts";

if (import.meta.main) {
  const terminal = createTerminal(processVariables());
  process.exitCode = await runCli(process.argv.slice(2), terminal);
  // A server may have left timers or idle connections behind; all that matters is closed by now.
  await terminal.flushed();
  process.exit();
}
