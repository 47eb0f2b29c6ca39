import { CommanderError } from "commander";
import { CommandTold, CommandWrong } from "./command-failed.ts";
import { createProgram } from "./program.ts";
import { OutputClosed, type Terminal } from "./terminal.ts";

/**
 * Runs one command line. 0: done. 1: it failed, and one line on standard error says why. 2: the command line is wrong.
 * A stack trace follows only when SLUICE_LOG_LEVEL is debug.
 */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  try {
    if (words.length === 0) {
      createProgram(terminal).outputHelp();
      return 0;
    }
    await createProgram(terminal).parseAsync(words, { from: "user" });
    return 0;
  } catch (thrown) {
    if (thrown instanceof OutputClosed) return 0;
    if (thrown instanceof CommandTold) return thrown.status === 2 ? 2 : 1;
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const line = thrown instanceof CommanderError ? usageLine(thrown) : await lineOf(thrown);
    terminal.complain(words.includes("--json") ? JSON.stringify({ error: line }) : `sluice: ${line}`);
    if (terminal.variables["SLUICE_LOG_LEVEL"]?.toLowerCase() === "debug" && thrown instanceof Error) {
      terminal.complain(Bun.inspect(thrown));
    }
    return thrown instanceof CommanderError || thrown instanceof CommandWrong ? 2 : 1;
  }
}

async function lineOf(thrown: unknown): Promise<string> {
  const { failureLine } = await import("./failure-line.ts");
  return failureLine(thrown);
}

function usageLine(error: CommanderError): string {
  // A group such as `key` without a command behind it shows its help.
  if (error.code === "commander.help") return "a command is missing; see --help";
  return error.message
    .replace(/^error: /, "")
    .replace(/\s*\(Did you mean (.*)\?\)$/s, "; did you mean $1?")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}
