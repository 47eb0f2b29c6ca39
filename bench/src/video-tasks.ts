import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endChildrenWithUs, startChild } from "./child.ts";
import { startVideoSluice, type VideoSluice, videoModel } from "./contenders/sluice-videos.ts";
import { until, within } from "./deadline.ts";
import { type Figure, figure } from "./figure.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { treeCpuMs, treeMemory } from "./process-tree.ts";
import { benchDirectory, rootDirectory } from "./run.ts";
import { quantiles } from "./statistics.ts";
import { table } from "./table.ts";
import { multiplyTasks } from "./task-rows.ts";
import { beginVideo, listVideos, makeVideos, readVideo, showVideo } from "./video-calls.ts";

/**
 * Cost of video tasks: polling, lists and downloads. Separate from the other figures, because it takes minutes.
 *
 *     bun bench/src/video-tasks.ts [--open 10000] [--accounts 1] [--rows 1000000] [--mb 50]
 */
interface Place {
  readonly directory: string;
  readonly simulatorPort: number;
}

const forever = 3_600_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      open: { type: "string", default: "10000" },
      accounts: { type: "string", default: "1" },
      rows: { type: "string", default: "1000000" },
      mb: { type: "string", default: "50" },
    },
  });
  const [open, accounts, rows, mb] = [values.open, values.accounts, values.rows, values.mb].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  endChildrenWithUs();
  const startedAt = new Date();
  const simulator = startChild({
    command: [process.execPath, join(rootDirectory, "simulator/src/main.ts")],
    cores: [],
  });
  const directory = join(benchDirectory, "results", `.videos-${process.pid}`);
  try {
    const line = await within(simulator.line(), 10_000, "the simulator's start");
    const { port }: { port: number } = JSON.parse(line ?? "null");
    const place = (name: string): Place => ({ directory: fresh(join(directory, name)), simulatorPort: port });
    const figures = [
      ...(open > 0 ? await openTasks(place("open"), open, accounts) : []),
      ...(rows > 0 ? await longLists(place("lists"), rows) : []),
      ...(mb > 0 ? await largeVideo(place("large"), mb) : []),
    ];
    console.log(table(figures));
    await keepResult("video-tasks", startedAt, { open, accounts, rows, mb, machine: describeMachine(), figures });
  } finally {
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function fresh(directory: string): string {
  mkdirSync(directory, { recursive: true });
  return directory;
}

const windowMs = 5_000;
const windows = 12;

/** CPU of tasks that are running at their vendor, including polls. */
async function openTasks(place: Place, count: number, accounts: number): Promise<Figure[]> {
  const sluice = await startVideoSluice({ ...place, accounts });
  try {
    const startedAt = performance.now();
    await makeVideos(sluice.url, { count, accounts, script: { running_ms: forever } });
    const perSecond = (count * 1_000) / (performance.now() - startedAt);
    // The first polls follow soon; then each task waits for its turn in the queue of its account.
    await Bun.sleep(45_000);
    const shares: number[] = [];
    const polls = await pollsOf(place);
    for (let window = 0; window < windows; window++) {
      const [cpu, at] = [treeCpuMs(sluice.pid), performance.now()];
      await Bun.sleep(windowMs);
      shares.push((100 * (treeCpuMs(sluice.pid) - cpu)) / (performance.now() - at));
    }
    const pollRate = ((await pollsOf(place)) - polls) / ((windows * windowMs) / 1_000);
    const { residentKb } = treeMemory(sluice.pid);
    return [
      figure(`CPU with ${count} open tasks on ${accounts} account(s)`, shares, {
        unit: "% of a core",
        target: { most: 5 },
        note: `${pollRate.toFixed(1)} polls per second included; ${Math.round(residentKb / 1024)} MB resident`,
      }),
      figure("Tasks accepted and sent", [perSecond], { unit: "/s", note: "32 callers at once" }),
    ];
  } finally {
    await sluice.stop();
  }
}

/** The simulator lists the latest few thousand polls, which is enough to calculate their rate. */
async function pollsOf({ simulatorPort }: Place): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${simulatorPort}/__sim/truth?limit=0`);
  return ((await answer.json()) as { readonly total: number }).total;
}

const pagesMax = 50;
const pageRows = 100;
/** Enough accounts that each task is polled within seconds, despite the limit per account. */
const listAccounts = 100;

async function longLists(place: Place, rows: number): Promise<Figure[]> {
  const before = await startVideoSluice({ ...place, accounts: listAccounts });
  const real = pagesMax * pageRows;
  await makeVideos(before.url, { count: real, accounts: listAccounts, script: { running_ms: 100 } });
  const over = async (): Promise<boolean> => {
    const open = await Promise.all(["queued", "running"].map((status) => listVideos(before.url, `status=${status}`)));
    return open.every(({ page }) => page.data.length === 0);
  };
  await until(over, 300_000, "the end of all tasks", 500);
  await before.stop();
  const file = join(place.directory, "data", "sluice.db");
  multiplyTasks(file, rows - real);
  const sluice = await startVideoSluice({ ...place, accounts: listAccounts });
  try {
    const kinds: [string, string][] = [
      ["the newest", ""],
      ["of a rare model", "&model=bench-rare"],
      ["that failed", "&status=failed"],
      ["that run", "&status=running"],
      ["of one account's model", `&model=${videoModel(0)}`],
    ];
    const figures: Figure[] = [];
    for (const [name, filter] of kinds) {
      const times = await walk(sluice.url, filter);
      const { p99, max } = quantiles(times);
      figures.push(
        figure(`A page of 100 of ${rows} tasks, ${name}`, times, {
          unit: "ms",
          target: { most: 50 },
          note: `${times.length} pages one after the other, p99 ${p99.toFixed(1)}, slowest ${max.toFixed(1)}`,
        }),
      );
    }
    figures.push(figure("Database size", [statSync(file).size / 2 ** 20], { unit: "MB" }));
    return figures;
  } finally {
    await sluice.stop();
  }
}

/** Loads page after page like a caller. If there are few, repeats the first one. */
async function walk(url: string, filter: string): Promise<number[]> {
  const times: number[] = [];
  let after = "";
  for (let count = 0; count < pagesMax; count++) {
    const { page, ms } = await listVideos(url, `limit=${pageRows}${filter}${after}`);
    times.push(ms);
    after = page.next === null ? "" : `&after=${encodeURIComponent(page.next)}`;
  }
  return times;
}

async function finished(sluice: VideoSluice, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await until(async () => (await showVideo(sluice.url, id)).status === "succeeded", 60_000, `the end of ${id}`, 100);
  }
}

const readings = 5;
const stillReaders = 40;
const settleMs = 2_000;

/**
 * Peak memory growth during a large download. For a single one, most of it is uncollected garbage, independent of the size. Many stalled
 * downloads show the memory that is really held.
 */
async function largeVideo(place: Place, mb: number): Promise<Figure[]> {
  const script = { video_bytes: mb * 2 ** 20, running_ms: 100 };
  const figures: Figure[] = [];
  for (const copyResults of [false, true]) {
    const at = { ...place, directory: fresh(join(place.directory, String(copyResults))) };
    const sluice = await startVideoSluice({ ...at, accounts: 1, copyResults });
    try {
      const [warm = "", id = ""] = await makeVideos(sluice.url, { count: 2, accounts: 1, script });
      await finished(sluice, [warm, id]);
      for (let reading = 0; reading < 10; reading++) await readVideo(sluice.url, warm);
      if (copyResults) {
        const copying = await held(sluice, async () => {
          const [next = ""] = await makeVideos(sluice.url, { count: 1, accounts: 1, script });
          await finished(sluice, [next]);
          // Videos contain the name of their task, so their bytes differ: the third copy belongs to this task.
          await until(() => copiesIn(at.directory, mb) === 3, 30_000, "the copy", 50);
        });
        figures.push(figure(`Memory while a video of ${mb} MB is copied`, [copying], { unit: "MB" }));
      }
      const from = copyResults ? "our store" : "the vendor";
      figures.push(
        await passed(sluice, id, `${mb} MB from ${from}`),
        await heldForStill(sluice, id, `${mb} MB from ${from}`),
      );
    } finally {
      await sluice.stop();
    }
  }
  return figures;
}

async function passed(sluice: VideoSluice, id: string, what: string): Promise<Figure> {
  const samples: number[] = [];
  for (let reading = 0; reading < readings; reading++) {
    samples.push(await held(sluice, () => readVideo(sluice.url, id)));
  }
  return figure(`Memory during a download of ${what}`, samples, { unit: "MB" });
}

/** Memory held for stalled readers: the difference between during and after the stall. */
async function heldForStill(sluice: VideoSluice, id: string, what: string): Promise<Figure> {
  const samples: number[] = [];
  for (let reading = 0; reading < 3; reading++) {
    const readers = await Promise.all(Array.from({ length: stillReaders }, () => beginVideo(sluice.url, id)));
    await Bun.sleep(settleMs);
    const { residentKb } = treeMemory(sluice.pid);
    for (const leave of readers) await leave();
    await Bun.sleep(settleMs);
    samples.push((residentKb - treeMemory(sluice.pid).residentKb) / 1024 / stillReaders);
  }
  return figure(`Memory per stalled reader of ${what}`, samples, {
    unit: "MB",
    target: { most: 2 },
    note: `${stillReaders} at once`,
  });
}

/** Number of complete copies on disk. Unfinished ones are shorter. */
function copiesIn(directory: string, mb: number): number {
  const blobs = join(directory, "data", "blobs");
  const sizes = readdirSync(blobs, { recursive: true }).map((name) => statSync(join(blobs, String(name))).size);
  return sizes.filter((size) => size >= mb * 2 ** 20).length;
}

/** Peak memory growth in MB. Resets the peak first (proc(5), clear_refs). */
async function held(sluice: VideoSluice, act: () => Promise<unknown>): Promise<number> {
  await Bun.sleep(500);
  writeFileSync(`/proc/${sluice.pid}/clear_refs`, "5");
  const { residentKb } = treeMemory(sluice.pid);
  await act();
  return (treeMemory(sluice.pid).peakKb - residentKb) / 1024;
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
process.exit();
