import { Command } from "commander";
import type { Control } from "#main.ts";
import { withControl } from "./open.ts";
import type { Terminal } from "./terminal.ts";

/** The answer of a command: one JSON document for machines, or lines for people. */
export type Answer = readonly [data: unknown, lines: readonly string[]];

/** A command of the parser, and those below it, with the terminal that they answer at. */
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

  /** An action whose arguments are those of the command, then its options, and whose answer is reported. */
  answer<Args extends unknown[]>(act: (...args: Args) => Promise<Answer>): this {
    return this.action(async (...given: unknown[]) => {
      await this.report(...(await act(...(given as Args))));
    });
  }

  /** The same with the data directory open while it acts. Only what may `create` an installation makes one. */
  onControl<Args extends unknown[]>(
    act: (control: Control, ...args: Args) => Promise<Answer>,
    options = { create: false },
  ): this {
    return this.answer((...args: Args) =>
      withControl(this.terminal.variables, (control) => act(control, ...args), options),
    );
  }
}

/** Rows as columns of equal width below their names. `none`: what is said where there are no rows. */
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

/** ISO 8601 of Unix milliseconds. */
export function timeText(at: number): string {
  return new Date(at).toISOString();
}

/** All items of a list that is given by pages. */
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
