import { parseArgs } from "node:util";
import { endChildrenWithUs } from "./child.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { type Figure, figure } from "./figure.ts";
import { holdStreams } from "./hold-streams.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { atRest } from "./measure.ts";
import { readOptions } from "./options.ts";
import { runProbe } from "./probe-contenders.ts";
import { treeFiles, treeMemory } from "./process-tree.ts";
import { type Run, startRun } from "./run.ts";
import { slope } from "./statistics.ts";
import { table } from "./table.ts";

/**
 * The soak: minutes of mixed load (short and long requests, streams that end and streams that are given up), while
 * memory is watched. Then the load stops, and what was opened must be closed again.
 *
 *     bun bench/src/soak.ts [--minutes 30] [--gateway file]
 */
const streamLoad = {
  streams: 200,
  bodyBytes: 4096,
  gapMs: 100,
  openPerSecond: 100,
  windowMs: 10_000,
  abortShare: 0.2,
} as const;
const sampleEveryMs = 5_000;
const restMs = 60_000;
/** Kept-alive connections to the upstream may outlast the load for a while. */
const filesSlack = 80;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: "string", default: "30" }, gateway: { type: "string" } },
  });
  const minutes = Math.min(24 * 60, Math.max(0.5, Number(values.minutes)));
  endChildrenWithUs();
  const startedAt = new Date();
  const run = await startRun({ ...readOptions([]), gateway: values.gateway ?? null });
  try {
    const sluice = await startSluice(run);
    const figures = await soak(run, sluice, minutes * 60_000);
    await sluice.stop();
    console.log(table(figures));
    await keepResult(`soak-${minutes}-min`, startedAt, { minutes, machine: describeMachine(), figures });
  } finally {
    await run.close();
  }
}

async function soak(run: Run, sluice: Sluice, durationMs: number): Promise<Figure[]> {
  const files = treeFiles(sluice.pid);
  const start = performance.now();
  const end = start + durationMs;
  const memory: [minute: number, mb: number][] = [];
  const sampler = setInterval(() => {
    memory.push([(performance.now() - start) / 60_000, treeMemory(sluice.pid).residentKb / 1024]);
  }, sampleEveryMs);
  try {
    await Promise.all([requests(run, sluice, durationMs), streams(run, sluice, end)]);
  } finally {
    clearInterval(sampler);
  }
  // The first fifth is not counted: caches fill and the compiler warms.
  const counted = memory.filter(([minute]) => minute >= durationMs / 60_000 / 5);
  await atRest(sluice);
  const filesAfter = await settledFiles(sluice, files + filesSlack);
  const { residentKb, peakKb } = treeMemory(sluice.pid);
  return [
    figure("Memory growth under load", [slope(counted)], {
      unit: "MB/min",
      target: { most: 1 },
      note: `over ${counted.length} samples; from ${Math.round(counted[0]?.[1] ?? 0)} to ${Math.round(counted.at(-1)?.[1] ?? 0)} MB`,
    }),
    figure("Memory at rest afterwards", [residentKb / 1024], {
      unit: "MB",
      target: { most: 120 },
      note: `at most ${Math.round(peakKb / 1024)} MB`,
    }),
    figure("Open files more than before", [filesAfter - files], {
      unit: "files",
      target: { most: filesSlack },
      note: `${files} before, ${filesAfter} after`,
    }),
  ];
}

/** 200 short requests and five of 100 KB a second, and one of 2 MB every five seconds. */
async function requests(run: Run, { name, port, key }: Sluice, durationMs: number): Promise<void> {
  const lane = (bodyBytes: number, everyMs: number) => ({
    targets: [{ name, port, key, bodyBytes }],
    everyMs,
    inARow: 1,
    count: Math.ceil(durationMs / everyMs),
    warmUp: 0,
  });
  const lanes = [lane(1024, 5), lane(100 * 1024, 200), lane(2 * 1024 * 1024, 5_000)];
  await runProbe(run, lanes, durationMs * 2);
}

async function streams(run: Run, sluice: Sluice, end: number): Promise<void> {
  while (performance.now() + streamLoad.windowMs < end) {
    await holdStreams(run, sluice, streamLoad, async () => undefined);
  }
}

async function settledFiles(sluice: Sluice, enough: number): Promise<number> {
  for (const end = performance.now() + restMs; performance.now() < end; await Bun.sleep(500)) {
    if (treeFiles(sluice.pid) <= enough) break;
  }
  return treeFiles(sluice.pid);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
process.exit();
