import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endChildrenWithUs, runChild } from "./child.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { until } from "./deadline.ts";
import { type Figure, figure } from "./figure.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { atRest } from "./measure.ts";
import { readOptions } from "./options.ts";
import { treeFiles, treeMemory } from "./process-tree.ts";
import type { SoakLoadResult, SoakLoadSpec } from "./programs/soak-load.ts";
import { RawConnection } from "./raw-connection.ts";
import { type Run, startRun } from "./run.ts";
import { judgeSoak, type SoakRow } from "./soak-judge.ts";
import { slope } from "./statistics.ts";
import { table } from "./table.ts";

/**
 * Soak test: minutes of mixed load (small and large requests, native and translated streams, aborting callers, a failing upstream) while
 * memory is measured. After the load, opened files must be closed again, and the ledger is compared with the attempts that the
 * upstream received.
 *
 *     bun bench/src/soak.ts [--minutes 30] [--gateway file]
 */
const sampleEveryMs = 5_000;
const restMs = 60_000;
/** Time after which a process is idle and has released memory after the load. */
const idleMs = 140_000;
/** Maximum time until the ledger has the last call. */
const drainMs = 120_000;
/** Additional time for startup and the last streams. */
const slackMs = 120_000;
/** Keep-alive connections to the upstream may stay open for a while after the load. */
const filesSlack = 80;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { minutes: { type: "string", default: "30" }, gateway: { type: "string" } },
  });
  const minutes = Math.min(24 * 60, Math.max(0.1, Number(values.minutes)));
  endChildrenWithUs();
  const startedAt = new Date();
  const run = await startRun({ ...readOptions([]), gateway: values.gateway ?? null }, { keepsAttempts: true });
  try {
    const sluice = await startSluice(run, { faulty: true });
    const figures = await soak(run, sluice, minutes * 60_000);
    console.log(table(figures));
    await keepResult(`soak-${minutes}-min`, startedAt, { minutes, machine: describeMachine(), figures });
    return figures.every(
      ({ measured, target }) => target === null || !("most" in target) || (measured?.median ?? 0) <= target.most,
    );
  } finally {
    await run.close();
  }
}

async function soak(run: Run, sluice: Sluice, durationMs: number): Promise<Figure[]> {
  const files = treeFiles(sluice.pid);
  const start = performance.now();
  const memory: [minute: number, mb: number][] = [];
  const openFiles: number[] = [];
  const sampler = setInterval(() => {
    memory.push([(performance.now() - start) / 60_000, treeMemory(sluice.pid).residentKb / 1024]);
    openFiles.push(treeFiles(sluice.pid));
  }, sampleEveryMs);
  let load: SoakLoadResult;
  try {
    const spec: SoakLoadSpec = { port: sluice.port, key: sluice.key, durationMs };
    const command = run.programs("soak-load", spec);
    load = await runChild<SoakLoadResult>({ command, cores: run.cores.load }, durationMs + slackMs);
  } finally {
    clearInterval(sampler);
  }
  // The first fifth is ignored, while caches fill and code is compiled.
  const counted = memory.filter(([minute]) => minute >= durationMs / 60_000 / 5);
  await atRest(sluice);
  const filesAfter = await settledFiles(sluice, files + filesSlack);
  const { residentKb, peakKb } = treeMemory(sluice.pid);
  await Bun.sleep(idleMs);
  const restedKb = treeMemory(sluice.pid).residentKb;
  const books = await ledgerAgainstAttempts(run, sluice);
  await sluice.stop();
  return [
    figure("Memory growth under load", [slope(counted)], {
      unit: "MB/min",
      target: { most: 1 },
      note: `over ${counted.length} samples; from ${Math.round(counted[0]?.[1] ?? 0)} to ${Math.round(counted.at(-1)?.[1] ?? 0)} MB`,
    }),
    figure("Idle memory afterwards", [restedKb / 1024], {
      unit: "MB",
      target: { most: 120 },
      note: `${Math.round(residentKb / 1024)} MB at once, at most ${Math.round(peakKb / 1024)} MB`,
    }),
    figure("Additional open files", [filesAfter - files], {
      unit: "files",
      target: { most: filesSlack },
      note: `${files} before, ${filesAfter} after, at most ${Math.max(...openFiles, 0)} under load`,
    }),
    callsFigure(load),
    ...books,
  ];
}

function callsFigure({ tallies, firstFailure }: SoakLoadResult): Figure {
  const endings = Object.entries(tallies).map(([name, { started, answered, refused, broken, left }]) => {
    const ends = Object.entries({ refused, broken, left }).filter(([, count]) => count > 0);
    return `${name}: ${answered} of ${started}${ends.map(([end, count]) => `, ${end} ${count}`).join("")}`;
  });
  const failed = Object.values(tallies).reduce((sum, tally) => sum + tally.failed, 0);
  return figure("Failed calls", [failed], {
    unit: "",
    target: { most: 0 },
    note: `${firstFailure === null ? "" : `the first: ${firstFailure}; `}answered ${endings.join("; ")}`,
  });
}

async function ledgerAgainstAttempts(run: Run, sluice: Sluice): Promise<Figure[]> {
  const { attemptsFile } = run;
  if (attemptsFile === null) throw new Error("the upstream writes no attempts");
  // The upstream writes its attempts to the file before it responds.
  const connection = await RawConnection.open(run.upstreamPort);
  await connection.exchange(Buffer.from("GET /served HTTP/1.1\r\nhost: bench\r\n\r\n"));
  connection.close();
  const seen = readFileSync(attemptsFile, "latin1")
    .split("\n")
    .filter((line) => line !== "");
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${sluice.port}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  };
  await until(async () => (await metric("sluice_ledger_lag_entries")) === 0, drainMs, "the ledger", 500).catch(
    () => undefined,
  );
  const reservations = await metric("sluice_reservations_open");
  const verdict = judgeSoak(seen, ledgerRows(sluice));
  const { missing, doubled, wrongTokens, invented, examples } = verdict;
  const note = examples.join("; ");
  const none = { unit: "", target: { most: 0 } } as const;
  return [
    figure("Attempts missing in the ledger", [missing], { ...none, note: `of ${verdict.seen}` }),
    figure("Attempts sent or recorded twice", [doubled], none),
    figure("Successful calls with wrong token counts", [wrongTokens], none),
    figure("Attempts with a cost that never reached the upstream", [invented], { ...none, note }),
    figure("Open reservations", [reservations], none),
  ];
}

function* ledgerRows({ dataDirectory }: Sluice): Iterable<SoakRow> {
  const database = new Database(join(dataDirectory, "sluice.db"), { readonly: true });
  try {
    yield* database
      .query<SoakRow, []>(
        `select attempt_id as attemptId, outcome, usage_source as usageSource, cost_nano_usd as costNanoUsd,
           input_uncached + cache_read as input, output from ledger where outcome <> 'rejected'`,
      )
      .iterate();
  } finally {
    database.close();
  }
}

async function settledFiles(sluice: Sluice, enough: number): Promise<number> {
  for (const end = performance.now() + restMs; performance.now() < end; await Bun.sleep(500)) {
    if (treeFiles(sluice.pid) <= enough) break;
  }
  return treeFiles(sluice.pid);
}

const isClean = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return false;
});
process.exit(isClean ? 0 : 1);
