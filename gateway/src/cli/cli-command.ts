import { Command } from "commander";
import type { Control } from "#main.ts";
import { withControl } from "./open.ts";
import type { Terminal } from "./terminal.ts";

/** The output of a command: JSON for machines, or lines for people. */
export type Answer = readonly [data: unknown, lines: readonly string[]];

/** A command with the terminal that it and its subcommands use. */
export class CliCommand extends Command {
  readonly terminal: Terminal;

  constructor(terminal: Terminal, name?: string) {
    super(name);
    this.terminal = terminal;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.terminal, name);
  }

  /** Whether `--json` was given, before or after the command's name. */
  get isJson(): boolean {
    return this.optsWithGlobals<{ json?: boolean }>().json === true;
  }

  async report(...[data, lines]: Answer): Promise<void> {
    if (this.isJson) await this.terminal.write(`${JSON.stringify(data)}\n`);
    else if (lines.length > 0) await this.terminal.write(`${lines.join("\n")}\n`);
  }

  /** Sets an action that receives arguments, then options, and whose result is printed. */
  answer<Args extends unknown[]>(act: (...args: Args) => Promise<Answer>): this {
    return this.action(async (...given: unknown[]) => {
      await this.report(...(await act(...(given as Args))));
    });
  }

  /** Like `answer`, with the data directory open. Only with `create` may it create an installation. */
  onControl<Args extends unknown[]>(
    act: (control: Control, ...args: Args) => Promise<Answer>,
    options = { create: false },
  ): this {
    return this.answer((...args: Args) =>
      withControl(this.terminal.variables, (control) => act(control, ...args), options),
    );
  }
}

/** Formats rows as columns below their names. `none` is printed if there are no rows. */
export function table(names: readonly string[], rows: readonly (readonly string[])[], none: string): readonly string[] {
  if (rows.length === 0) return [none];
  const all = [names, ...rows];
  const widths = names.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Unix milliseconds as ISO 8601. */
export function timeText(at: number): string {
  return new Date(at).toISOString();
}

/** Reads all pages of a list. */
export async function everyItem<Item>(
  read: (cursor: string | null) => Promise<{ readonly data: readonly Item[]; readonly next: string | null }>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page = await read(cursor);
    items.push(...page.data);
    cursor = page.next;
  } while (cursor !== null);
  return items;
}
