import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createReportStore } from "../../gateway/src/storage/index.ts";
import { systemClock } from "../../gateway/src/system/index.ts";
import { endChildrenWithUs } from "./child.ts";
import { answers } from "./console-answers.ts";
import { duringConsoleUse } from "./console-beside.ts";
import { type Filled, fillConsole } from "./console-rows.ts";
import { type Figure, figure } from "./figure.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { startRun } from "./run.ts";
import { table } from "./table.ts";

/**
 * Latency of the console's queries in a gateway with many entries and keys, and their effect on model calls. Separate from the other
 * figures, because it takes minutes.
 *
 *     bun bench/src/console-reports.ts [--entries 1000000] [--keys 100000] [--times 20] [--rounds 12] [--directory dir]
 *
 * --times: repetitions of each query. --rounds: measurements of model calls during queries; 0 skips them.
 * --directory: where to keep the database. An existing one is reused.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      entries: { type: "string", default: "1000000" },
      keys: { type: "string", default: "100000" },
      directory: { type: "string" },
      rounds: { type: "string", default: "12" },
      times: { type: "string", default: "20" },
    },
  });
  const [entries, keys, times, rounds] = [values.entries, values.keys, values.times, values.rounds].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  endChildrenWithUs();
  const startedAt = new Date();
  const run = await startRun(readOptions([]));
  try {
    const filled = await filledIn(values.directory ?? join(run.directory, "console"), { entries, keys });
    const figures = [...filling(filled, entries), ...(times > 0 ? await answersOf(filled, times) : [])];
    if (rounds > 0) figures.push(...(await duringConsoleUse(run, filled, rounds)));
    console.log(table(figures));
    await keepResult("console-reports", startedAt, {
      entries,
      keys,
      times,
      rounds,
      machine: describeMachine(),
      figures,
    });
  } finally {
    await run.close();
    rmSync(run.directory, { recursive: true, force: true });
  }
}

async function filledIn(directory: string, size: { entries: number; keys: number }): Promise<Filled> {
  const facts = Bun.file(join(directory, "filled.json"));
  if (await facts.exists()) return await facts.json();
  mkdirSync(directory, { recursive: true });
  const filled = await fillConsole(directory, { ...size, days: 30, now: Date.now() });
  await Bun.write(facts, JSON.stringify(filled));
  return filled;
}

function filling({ databasePath, insertMs }: Filled, entries: number): Figure[] {
  return [
    figure("Time to insert an entry", [(insertMs * 1_000) / entries], {
      unit: "µs",
      note: "about four entries a rollup; making them up included",
    }),
    figure("Database size", [statSync(databasePath).size / 2 ** 20], { unit: "MB" }),
  ];
}

async function answersOf(filled: Filled, times: number): Promise<Figure[]> {
  const log = (level: string, message: string) => console.error(level, message);
  const reports = createReportStore({ databasePath: filled.databasePath, clock: systemClock, observer: { log } });
  return await answers(reports, filled, times).finally(() => reports.close());
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
process.exit();
