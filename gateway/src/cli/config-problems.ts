import type { Command } from "commander";
import type { ConfigInvalid } from "#config/index.ts";
import { CommandFailed } from "./command-failed.ts";
import { report } from "./report.ts";
import type { Terminal } from "./terminal.ts";

/** Tells everything that is wrong with a config file, and fails with how much it is. */
export async function refuseConfig(
  terminal: Terminal,
  command: Command,
  file: string,
  thrown: ConfigInvalid,
): Promise<never> {
  const count = thrown.problems.length + thrown.unlisted;
  await report(terminal, command, { file, valid: false, problems: thrown.problems, count }, thrown.lines);
  throw new CommandFailed(`${file} is invalid: ${count} ${count === 1 ? "problem" : "problems"}`);
}
