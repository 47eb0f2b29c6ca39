import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { until } from "../until.ts";
import { judgeVideos, type VideoVerdict } from "./judge-videos.ts";
import { type KeyUsage, readKeyUsage } from "./key-usage.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { startSimulator } from "./start-simulator.ts";
import { keys } from "./test-config.ts";
import {
  everyRow,
  everyTask,
  isOpen,
  type PicturesSeen,
  picturesIn,
  readRequests,
  tasksDueInSqlite,
} from "./video-evidence.ts";
import { VideoLoad } from "./video-load.ts";
import { ordersOf, videoConfig } from "./video-orders.ts";

export interface VideoKillOptions {
  readonly orders: number;
  readonly callers: number;
  /** How long each caller rests between two orders, and the gateway lives between two kills, in real milliseconds. */
  readonly restMs: number;
  readonly lifeMs: number;
  readonly kills: number;
  /** How many times faster than the machine's clock everybody's clock runs. */
  readonly times: number;
}

export const shortVideoKill: VideoKillOptions = {
  orders: 288,
  callers: 16,
  restMs: 600,
  lifeMs: 1_200,
  kills: 6,
  // Faster, and the bounds of what a disk and a thread take would be shorter than they take.
  times: 20,
};

export interface VideoKillReport extends VideoVerdict {
  readonly kills: number;
  /** Orders that nobody answered at first. */
  readonly placedAgain: number;
  /** Vendors' calls that it took: some come twice, some never. */
  readonly callbacksTaken: number;
  /** How long it stood still, by its own clock; its leases are of 120 and 300 seconds. */
  readonly stoppedMs: number;
  /** Tasks of which nobody could know anything, which waited for their deadline. */
  readonly waitedForDeadline: number;
  /** What the budget counts beyond the ledger: before the last start and after it. */
  readonly budgetErrorsNanoUsd: readonly [before: number, after: number];
  readonly verifyStatus: number;
  readonly verifyOutput: string;
  readonly slowestStartMs: number;
  readonly pictures: PicturesSeen;
}

/** Longer than the longest lease: a submission's. */
const standstillMs = 320_000;
/** How long callers meet a gateway that stands still, in real milliseconds: longer than they are patient. */
const stopMs = 5_000;
/** Longer than a vendor must deny a task before it is believed, with the leases of whoever was killed. */
const quietMs = 960_000;
/** It passes in leaps, with looks at vendors between them. */
const quietLeapMs = 240_000;
const pastEveryDeadlineMs = 50 * 3_600_000;

/**
 * Callers order videos while the gateway is killed over and over, and once stands still until its leases have run out.
 * Then what vendors made is compared with what the ledger holds. Everybody's clock runs fast.
 */
export async function runVideoKill(options: VideoKillOptions): Promise<VideoKillReport> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-video-kill-"));
  const truthFile = join(folder, "truth.jsonl");
  const clock = fastClock(folder, options.times);
  const simulator = await startSimulator({ truthFile, env: clock.variables });
  const gateway = await startGateway({
    config: videoConfig(simulator.url),
    env: clock.variables,
    knowsItsAddress: true,
  });
  try {
    await simulator.script({ answer_lost: "cut" }, { count: Math.ceil(options.orders / 40), model: "sora-2" });
    const load = new VideoLoad({
      urls: [gateway.url],
      key: keys.main,
      orders: ordersOf(options.orders),
      pauseMs: options.restMs,
    });
    const loaded = load.run(options.callers);
    const slowestStartMs = await killOften(gateway, clock, options);
    await loaded;
    await quiet(gateway, clock);
    const placed = await load.repeat(options.callers);
    const waiting = (await everyTask(gateway.url, keys.main)).filter(isOpen);
    // What nobody could find is held until its deadline, and is never sent again.
    await gateway.stop();
    clock.leap(pastEveryDeadlineMs);
    await gateway.restart();
    const shown = await until(async () => {
      const all = await everyTask(gateway.url, keys.main);
      return all.some(isOpen) ? null : all;
    });
    const before = await spentStanding(gateway);
    await gateway.stop();
    await gateway.restart();
    const after = await spentStanding(gateway);
    const verify = await gateway.cli("ledger", "verify");
    const rows = await everyRow(gateway);
    // What killed processes have left of material is collected by those that follow.
    await until(() => filesIn(join(gateway.dataDir, "blobs")) === 0);
    const requests = readRequests(truthFile);
    const booked = rows.reduce((sum, row) => sum + row.cost_nano_usd, 0);
    const made = await simulator.tasks();
    return {
      ...judgeVideos({ placed, shown, rows, made, requests }),
      kills: options.kills,
      placedAgain: placed.filter(({ unanswered }) => unanswered > 0).length,
      callbacksTaken: made.reduce((sum, { callbacks_taken }) => sum + callbacks_taken, 0),
      stoppedMs: standstillMs,
      waitedForDeadline: waiting.length,
      budgetErrorsNanoUsd: [before.spentNanoUsd - booked, after.spentNanoUsd - booked],
      verifyStatus: verify.status,
      verifyOutput: `${verify.stdout}${verify.stderr}`.trim(),
      slowestStartMs,
      pictures: picturesIn(requests, rows),
    };
  } finally {
    await gateway.remove();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves to the slowest start in real milliseconds. In the middle it stands still instead, and goes on. */
async function killOften(gateway: Gateway, clock: FastClock, { kills, lifeMs }: VideoKillOptions): Promise<number> {
  let slowestStartMs = 0;
  for (let kill = 0; kill < kills; kill++) {
    await Bun.sleep(lifeMs);
    if (kill === Math.floor(kills / 2)) {
      process.kill(gateway.pid(), "SIGSTOP");
      await Bun.sleep(stopMs);
      clock.leap(standstillMs);
      process.kill(gateway.pid(), "SIGCONT");
      await Bun.sleep(lifeMs);
    }
    await gateway.kill9();
    const startedMs = performance.now();
    await gateway.restart();
    slowestStartMs = Math.max(slowestStartMs, Math.round(performance.now() - startedMs));
  }
  return slowestStartMs;
}

/** Until looks at vendors, over so long a time, have ended nothing more. */
async function quiet(gateway: Gateway, clock: FastClock): Promise<void> {
  const open = async (): Promise<number> => (await everyTask(gateway.url, keys.main)).filter(isOpen).length;
  // What killed processes were working on is anybody's again.
  clock.leap(standstillMs);
  for (let before = Number.NaN, now = await open(); now !== before; ) {
    before = now;
    for (let passedMs = 0; passedMs < quietMs; passedMs += quietLeapMs) {
      clock.leap(quietLeapMs);
      await lookedAt(gateway, clock.now());
      now = await open();
    }
  }
}

/** Until every task that was due by then has been looked at, however slow the machine: a leap would end a look halfway. */
async function lookedAt(gateway: Gateway, byMs: number): Promise<void> {
  const due = tasksDueInSqlite(gateway.dataDir);
  await until(async () => (await due(byMs)) === 0);
}

interface FastClock {
  readonly variables: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  now(): number;
  /** For everybody, now. */
  leap(ms: number): void;
}

function fastClock(folder: string, times: number): FastClock {
  const file = join(folder, "clock");
  const from = Date.now();
  writeFileSync(file, new Uint8Array(Float64Array.of(from, times, 0).buffer));
  const shared = new Float64Array(Bun.mmap(file, { shared: true }).buffer);
  const preload = join(import.meta.dir, "fast-clock.ts");
  return {
    variables: { FAST_CLOCK: file, BUN_OPTIONS: `--preload=${preload}` },
    now: () => from + (Date.now() - from) * times + (shared[2] ?? 0),
    leap(ms) {
      shared[2] = (shared[2] ?? 0) + ms;
    },
  };
}

/** What a budget has spent is read from the ledger after a start, which takes a moment of a fast clock's minute. */
function spentStanding(gateway: Gateway): Promise<KeyUsage> {
  return until(async () => {
    const standing = await readKeyUsage(gateway.url, keys.main);
    return standing === null || standing.spentNanoUsd === 0 ? null : standing;
  });
}

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;
}

/**
 * bun test/acceptance/video-kill.ts [--orders 1000] [--callers 32] [--rest MS] [--life MS] [--kills 12] [--times 40]
 * `--times 1` is the real clock, and takes more than half an hour.
 */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      orders: { type: "string", default: "1000" },
      callers: { type: "string", default: "32" },
      rest: { type: "string", default: "1200" },
      life: { type: "string", default: "1800" },
      kills: { type: "string", default: "12" },
      times: { type: "string", default: String(shortVideoKill.times) },
    },
  });
  const report = await runVideoKill({
    orders: Number(values.orders),
    callers: Number(values.callers),
    restMs: Number(values.rest),
    lifeMs: Number(values.life),
    kills: Number(values.kills),
    times: Number(values.times),
  });
  console.log(JSON.stringify(report, null, 2));
  const good = report.faults.length === 0 && report.verifyStatus === 0;
  process.exit(good && report.budgetErrorsNanoUsd.every((error) => error === 0) ? 0 : 1);
}
