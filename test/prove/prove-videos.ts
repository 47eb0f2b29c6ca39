import { seededChance } from "../../gateway/test/simulation/seeded-chance.ts";
import { judgeVideos, type ShownTask } from "../acceptance/judge-videos.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { allRows, allTasks, imagesIn, isOpen, readRequests, tasksDueInPostgres } from "../acceptance/video-evidence.ts";
import { type PlacedOrder, VideoLoad } from "../acceptance/video-load.ts";
import { ordersOf } from "../acceptance/video-orders.ts";
import { until } from "../until.ts";
import type { Bucket } from "./bucket.ts";
import { CallbackHost } from "./callback-host.ts";
import { DatabaseClock } from "./database-clock.ts";
import { type DisruptOptions, disrupt } from "./disruptions.ts";
import { type Finding, finding, formatCounts, mismatch, whileProgressing } from "./proof.ts";
import { limitedKeys } from "./prove-config.ts";

export interface VideosOptions extends Omit<DisruptOptions, "between" | "isEnough" | "reached"> {
  readonly bucket: Bucket;
  readonly truthFile: string;
  readonly orders: number;
  readonly seed: number;
}

const callers = 16;
/** How long callers pause between two orders. */
const pauseMs = 2_000;
/** How long one second of the simulated vendors takes. */
const vendorSecondMs = 50;
/** Longer than the longest lease of a task, which is a submission's, plus the time of a vendor's answer. */
const leaseMs = 320_000;
/** Longer than a vendor must report a task as missing before that is believed. The clock advances in steps, with polls in between. */
const quietMs = 960_000;
const quietStepMs = 240_000;
const pastEveryDeadlineMs = 50 * 3_600_000;

/** The test's options and its clock, which advances for all replicas while none is running. */
interface VideoRun extends VideosOptions {
  readonly sql: Bun.SQL;
  readonly clock: DatabaseClock;
  readonly faults: string[];
}

/**
 * Callers order videos while replicas, Redis and PostgreSQL are killed, stopped and restarted. Then what the vendors created is
 * compared with the ledger and with what the API shows: each video was created once, has one entry with the vendor's figures, and
 * its end was reported by webhook.
 */
export async function proveVideos(options: VideosOptions): Promise<readonly Finding[]> {
  const sql = new Bun.SQL(options.replicas.databaseUrl, { max: 1 });
  const clock = await DatabaseClock.of(sql);
  const run: VideoRun = { ...options, sql, clock, faults: [] };
  const { gateways, simulator } = options.replicas;
  const [first] = gateways;
  if (first === undefined) throw new Error("no replica was started");
  const secret = (await first.cli("workspace", "webhook-secret", "acme")).stdout.trim();
  const host = new CallbackHost(secret, clock);
  try {
    await simulator.clear();
    await simulator.script({ answer_lost: "cut" }, { count: Math.ceil(options.orders / 40), model: "sora-2" });
    const load = new VideoLoad({
      urls: gateways.map(({ url }) => url),
      key: limitedKeys.videos,
      orders: ordersOf(options.orders, vendorSecondMs),
      pauseMs,
      callbackUrl: host.url,
    });
    const loaded = load.run(callers).then(() => true);
    const chance = seededChance(options.seed);
    const { counts, faults } = await disrupt({
      ...options,
      between: (min, max) => min + Math.floor(chance.unit() * (max - min + 1)),
      isEnough: () => load.started === options.orders,
      reached: () => `${load.started} videos ordered`,
    });
    run.faults.push(...faults);
    if ((await whileProgressing(loaded, () => load.placed)) === null)
      throw new Error("orders are still waiting for an answer");
    await untilNothingChanges(run);
    const placed = await load.repeat(callers);
    // An order that was refused with an error begins now.
    await untilNothingChanges(run);
    const waiting = (await shownTasks(run)).filter(isOpen).length;
    await advance(run, pastEveryDeadlineMs);
    const shown = await until(async () => {
      const all = await shownTasks(run);
      return all.some(isOpen) ? null : all;
    });
    await until(() => host.taskCount === shown.length).catch(() => undefined);
    return [
      finding(
        `kill loop: ${options.orders} videos ordered, ${placed.filter(({ unanswered }) => unanswered > 0).length} retried without an answer`,
        formatCounts(counts),
        run.faults,
      ),
      ...(await compareLedger(run, { placed, shown, waiting, gateway: first })),
      finding(
        "the end of each video is reported at least once, with one message id",
        `${host.taskCount} of ${shown.length} ends in ${host.messages} messages`,
        host.problems(shown),
      ),
    ];
  } finally {
    host.stop();
    await sql.end();
  }
}

interface Outcome {
  readonly placed: readonly PlacedOrder[];
  readonly shown: readonly ShownTask[];
  /** Tasks with an outcome that could not be determined before their deadline. */
  readonly waiting: number;
  readonly gateway: Gateway;
}

/** Compares what the vendors created with the ledger, and the ledger with what every replica counts. */
async function compareLedger(run: VideoRun, { placed, shown, waiting, gateway }: Outcome): Promise<readonly Finding[]> {
  const { simulator, gateways } = run.replicas;
  const verify = await gateway.cli("ledger", "verify");
  const rows = await allRows(gateway);
  const vendorTasks = await simulator.tasks();
  const requests = readRequests(run.truthFile);
  const verdict = judgeVideos({ placed, shown, rows, vendorTasks, requests });
  const images = imagesIn(requests, rows);
  const ledgerNanoUsd = rows
    .filter(({ endpoint }) => endpoint === "video")
    .reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0);
  const counts = await Promise.all(gateways.map(({ url }) => readUsage(url, ledgerNanoUsd)));
  const isBucketEmpty = await until(async () => (await run.bucket.objects()) === 0).catch(() => false);
  const outcomes = formatCounts(new Map(Object.entries(verdict.outcomes)));
  return [
    finding(
      "every video was created once and has one entry with its vendor's figures",
      `${verdict.vendorTasks} vendor tasks for ${verdict.orders} orders, ${verdict.entries} entries (${outcomes}; ${waiting} waited for their deadline)`,
      [
        mismatch("entries", verdict.entries, verdict.orders),
        mismatch("requests with a truncated image", images.truncated, 0),
        isBucketEmpty ? null : `${await run.bucket.objects()} images are left in the bucket`,
        // If most were lost, the test would prove nothing.
        (verdict.outcomes["succeeded"] ?? 0) > verdict.orders / 2 ? null : "fewer than half of the videos were created",
        ...verdict.faults,
      ],
    ),
    finding("sluice ledger verify", `status ${verify.status}`, [
      verify.status === 0 ? null : `${verify.stdout}${verify.stderr}`.trim(),
    ]),
    finding(
      "the videos' budget as every replica counts it",
      `${ledgerNanoUsd} nano-USD in the ledger`,
      counts.map((count, at) => mismatch(`replica ${at + 1}`, count, `${ledgerNanoUsd} nano-USD, 0 running`)),
    ),
  ];
}

/** The usage that a replica reports, as soon as it matches the ledger and nothing is running, or else at the end of the wait. */
async function readUsage(url: string, ledgerNanoUsd: number): Promise<string> {
  let latest = { running: Number.NaN, spentNanoUsd: Number.NaN };
  await until(async () => {
    latest = (await readKeyUsage(url, limitedKeys.videos)) ?? latest;
    return latest.spentNanoUsd === ledgerNanoUsd && latest.running === 0;
  }).catch(() => undefined);
  return `${latest.spentNanoUsd} nano-USD, ${latest.running} running`;
}

/** Advances the clock until polling the vendors changes nothing more. */
async function untilNothingChanges(run: VideoRun): Promise<void> {
  const open = async (): Promise<number> => (await shownTasks(run)).filter(isOpen).length;
  // After the lease, any replica may continue the work of one that was killed.
  await advance(run, leaseMs);
  for (let before = Number.NaN, now = await open(); now !== before; ) {
    before = now;
    for (let advancedMs = 0; advancedMs < quietMs; advancedMs += quietStepMs) await advance(run, quietStepMs);
    now = await open();
  }
}

/** Advances the clock while no replica runs; then waits until every due task has been polled. */
async function advance({ replicas: { gateways }, sql, clock, faults }: VideoRun, ms: number): Promise<void> {
  const statuses = await Promise.all(gateways.map((gateway) => gateway.stop()));
  for (const [at, status] of statuses.entries()) {
    const fault = mismatch(`exit status of replica ${at + 1}`, status, 0);
    if (fault !== null) faults.push(fault);
  }
  await clock.advance(ms);
  await Promise.all(gateways.map((gateway) => gateway.restart()));
  const due = tasksDueInPostgres(sql);
  const nowMs = await clock.now();
  await until(async () => (await due(nowMs)) === 0);
}

async function shownTasks({ replicas: { gateways } }: VideoRun): Promise<readonly ShownTask[]> {
  return await allTasks(gateways[0]?.url ?? "", limitedKeys.videos);
}
