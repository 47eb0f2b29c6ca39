import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

/** Whether `--json` was given, before or after the command's name. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

/** The answer of a command: one JSON document for machines, or lines for people. */
export async function report(
  terminal: Terminal,
  command: Command,
  data: unknown,
  lines: readonly string[],
): Promise<void> {
  if (wantsJson(command)) await terminal.write(`${JSON.stringify(data)}\n`);
  else if (lines.length > 0) await terminal.write(`${lines.join("\n")}\n`);
}

/** Rows as columns of equal width, the first row being their names. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
