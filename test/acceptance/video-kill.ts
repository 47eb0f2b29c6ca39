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
  allRows,
  allTasks,
  type ImageCounts,
  imagesIn,
  isOpen,
  readRequests,
  tasksDueInSqlite,
} from "./video-evidence.ts";
import { VideoLoad } from "./video-load.ts";
import { ordersOf, videoConfig } from "./video-orders.ts";

export interface VideoKillOptions {
  readonly orders: number;
  readonly callers: number;
  /** How long each caller pauses between two orders, and how long the gateway runs between two kills, in real milliseconds. */
  readonly restMs: number;
  readonly lifeMs: number;
  readonly kills: number;
  /** How many times faster than real time the clock of all processes runs. */
  readonly speed: number;
}

export const shortVideoKill: VideoKillOptions = {
  orders: 288,
  callers: 16,
  restMs: 600,
  lifeMs: 1_200,
  kills: 6,
  // With a faster clock, disks and threads would exceed their time limits.
  speed: 20,
};

export interface VideoKillReport extends VideoVerdict {
  readonly kills: number;
  /** Orders without an answer to the first attempt. */
  readonly placedAgain: number;
  /** Accepted vendor callbacks: some are sent twice, some never. */
  readonly callbacksAccepted: number;
  /** How long the gateway was stopped, by its own clock; its leases last 120 and 300 seconds. */
  readonly stoppedMs: number;
  /** Tasks with an outcome that could not be determined before their deadline. */
  readonly waitedForDeadline: number;
  /** The difference between the budget's counter and the ledger, before and after the last start. */
  readonly budgetErrorsNanoUsd: readonly [before: number, after: number];
  readonly verifyStatus: number;
  readonly verifyOutput: string;
  readonly slowestStartMs: number;
  readonly images: ImageCounts;
}

/** Longer than the longest lease, which is a submission's. */
const pausedClockMs = 320_000;
/** How long the gateway is stopped in real milliseconds: longer than the callers' timeout. */
const stopMs = 5_000;
/** Longer than a vendor must report a task as missing before that is believed, plus the leases of killed processes. */
const quietMs = 960_000;
/** The clock advances in steps, with polls of the vendors in between. */
const quietStepMs = 240_000;
const pastEveryDeadlineMs = 50 * 3_600_000;

/**
 * Callers order videos while the gateway is killed repeatedly, and once paused until its leases have expired. Then what vendors created
 * is compared with the ledger. The clock of all processes runs fast.
 */
export async function runVideoKill(options: VideoKillOptions): Promise<VideoKillReport> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-video-kill-"));
  const truthFile = join(folder, "truth.jsonl");
  const clock = fastClock(folder, options.speed);
  const simulator = await startSimulator({ truthFile, env: clock.variables });
  const gateway = await startGateway({
    config: videoConfig(simulator.url),
    env: clock.variables,
    setPublicUrl: true,
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
    await untilNothingChanges(gateway, clock);
    const placed = await load.repeat(options.callers);
    // An order that was refused with an error begins now.
    await untilNothingChanges(gateway, clock);
    const waiting = (await allTasks(gateway.url, keys.main)).filter(isOpen);
    // Tasks that could not be found at the vendor stay reserved until their deadline, and are never sent again.
    await gateway.stop();
    clock.advance(pastEveryDeadlineMs);
    await gateway.restart();
    const shown = await until(async () => {
      const all = await allTasks(gateway.url, keys.main);
      return all.some(isOpen) ? null : all;
    });
    const before = await readUsage(gateway);
    await gateway.stop();
    await gateway.restart();
    const after = await readUsage(gateway);
    const verify = await gateway.cli("ledger", "verify");
    const rows = await allRows(gateway);
    // Later processes delete the video inputs that killed processes left.
    await until(() => filesIn(join(gateway.dataDir, "blobs")) === 0);
    const requests = readRequests(truthFile);
    const ledgerNanoUsd = rows.reduce((sum, row) => sum + row.cost_nano_usd, 0);
    const vendorTasks = await simulator.tasks();
    return {
      ...judgeVideos({ placed, shown, rows, vendorTasks, requests }),
      kills: options.kills,
      placedAgain: placed.filter(({ unanswered }) => unanswered > 0).length,
      callbacksAccepted: vendorTasks.reduce((sum, { callbacks_accepted }) => sum + callbacks_accepted, 0),
      stoppedMs: pausedClockMs,
      waitedForDeadline: waiting.length,
      budgetErrorsNanoUsd: [before.spentNanoUsd - ledgerNanoUsd, after.spentNanoUsd - ledgerNanoUsd],
      verifyStatus: verify.status,
      verifyOutput: `${verify.stdout}${verify.stderr}`.trim(),
      slowestStartMs,
      images: imagesIn(requests, rows),
    };
  } finally {
    await gateway.remove();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Kills and restarts the gateway repeatedly, and pauses it once in the middle. Resolves to the slowest start in real milliseconds. */
async function killOften(gateway: Gateway, clock: FastClock, { kills, lifeMs }: VideoKillOptions): Promise<number> {
  let slowestStartMs = 0;
  for (let kill = 0; kill < kills; kill++) {
    await Bun.sleep(lifeMs);
    if (kill === Math.floor(kills / 2)) {
      process.kill(gateway.pid(), "SIGSTOP");
      await Bun.sleep(stopMs);
      clock.advance(pausedClockMs);
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

/** Advances the clock until polling the vendors changes nothing more. */
async function untilNothingChanges(gateway: Gateway, clock: FastClock): Promise<void> {
  const open = async (): Promise<number> => (await allTasks(gateway.url, keys.main)).filter(isOpen).length;
  // After the lease, any process may continue the work of one that was killed.
  clock.advance(pausedClockMs);
  for (let before = Number.NaN, now = await open(); now !== before; ) {
    before = now;
    for (let advancedMs = 0; advancedMs < quietMs; advancedMs += quietStepMs) {
      clock.advance(quietStepMs);
      await waitForPolls(gateway, clock.now());
      now = await open();
    }
  }
}

/** Waits until every task that was due by this time has been polled, because advancing the clock would interrupt a poll. */
async function waitForPolls(gateway: Gateway, byMs: number): Promise<void> {
  const due = tasksDueInSqlite(gateway.dataDir);
  await until(async () => (await due(byMs)) === 0);
}

interface FastClock {
  readonly variables: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  now(): number;
  /** Moves the clock of all processes forward. */
  advance(ms: number): void;
}

function fastClock(folder: string, speed: number): FastClock {
  const file = join(folder, "clock");
  const from = Date.now();
  writeFileSync(file, new Uint8Array(Float64Array.of(from, speed, 0).buffer));
  const shared = new Float64Array(Bun.mmap(file, { shared: true }).buffer);
  const preload = join(import.meta.dir, "fast-clock.ts");
  return {
    variables: { FAST_CLOCK: file, BUN_OPTIONS: `--preload=${preload}` },
    now: () => from + (Date.now() - from) * speed + (shared[2] ?? 0),
    advance(ms) {
      shared[2] = (shared[2] ?? 0) + ms;
    },
  };
}

/** After a start, the usage is unknown until it has been read from the ledger. */
function readUsage(gateway: Gateway): Promise<KeyUsage> {
  return until(async () => {
    const usage = await readKeyUsage(gateway.url, keys.main);
    return usage === null || usage.spentNanoUsd === 0 ? null : usage;
  });
}

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

/**
 * bun test/acceptance/video-kill.ts [--orders 1000] [--callers 32] [--rest MS] [--life MS] [--kills 12] [--speed 40]
 * `--speed 1` is the real clock, and takes more than half an hour.
 */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      orders: { type: "string", default: "1000" },
      callers: { type: "string", default: "32" },
      rest: { type: "string", default: "1200" },
      life: { type: "string", default: "1800" },
      kills: { type: "string", default: "12" },
      speed: { type: "string", default: String(shortVideoKill.speed) },
    },
  });
  const report = await runVideoKill({
    orders: Number(values.orders),
    callers: Number(values.callers),
    restMs: Number(values.rest),
    lifeMs: Number(values.life),
    kills: Number(values.kills),
    speed: Number(values.speed),
  });
  console.log(JSON.stringify(report, null, 2));
  const good = report.faults.length === 0 && report.verifyStatus === 0;
  process.exit(good && report.budgetErrorsNanoUsd.every((error) => error === 0) ? 0 : 1);
}
