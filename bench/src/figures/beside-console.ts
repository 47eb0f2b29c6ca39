import { join } from "node:path";
import { duringConsoleUse } from "../console-beside.ts";
import { fillConsole } from "../console-rows.ts";
import type { Figure } from "../figure.ts";
import type { Run } from "../run.ts";

const sizes = {
  quick: { entries: 20_000, keys: 2_000, rounds: 2 },
  full: { entries: 200_000, keys: 20_000, rounds: 8 },
} as const;

/** Call latency while the console is used, with a month of entries. `console-reports` measures it with more. */
export async function besideConsole(run: Run): Promise<Figure[]> {
  const { entries, keys, rounds } = sizes[run.options.mode];
  const filled = await fillConsole(join(run.directory, "console"), { entries, keys, days: 30, now: Date.now() });
  return await duringConsoleUse(run, filled, rounds);
}
