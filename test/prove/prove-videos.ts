import { seededChance } from "../../gateway/test/simulation/seeded-chance.ts";
import { judgeVideos, type ShownTask } from "../acceptance/judge-videos.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import {
  everyRow,
  everyTask,
  isOpen,
  picturesIn,
  readRequests,
  tasksDueInPostgres,
} from "../acceptance/video-evidence.ts";
import { type Placed, VideoLoad } from "../acceptance/video-load.ts";
import { ordersOf } from "../acceptance/video-orders.ts";
import { until } from "../until.ts";
import type { Bucket } from "./bucket.ts";
import { CallbackHost } from "./callback-host.ts";
import { LeapingClock } from "./leaping-clock.ts";
import { type Finding, finding, say, unlike, whileMoving } from "./proof.ts";
import { provedKeys } from "./prove-config.ts";
import { type TroublesOptions, troubleThem } from "./prove-troubles.ts";

export interface VideosOptions extends Omit<TroublesOptions, "between" | "isEnough" | "reached"> {
  readonly bucket: Bucket;
  readonly truthFile: string;
  readonly orders: number;
  readonly seed: number;
}

const callers = 16;
/** How long callers rest between two orders. */
const pauseMs = 2_000;
/** Vendors are so quick that a second of theirs takes so long. */
const vendorSecondMs = 50;
/** Longer than the longest lease of a task, a submission's, with the time that a vendor's answer may be underway. */
const leaseMs = 320_000;
/** Longer than a vendor must deny a task before it is believed; it passes in leaps with looks between them. */
const quietMs = 960_000;
const quietLeapMs = 240_000;
const pastEveryDeadlineMs = 50 * 3_600_000;

/** The replicas, and the time that leaps for all of them while none of them runs. */
interface Ground extends VideosOptions {
  readonly sql: Bun.SQL;
  readonly clock: LeapingClock;
  readonly faults: string[];
}

/**
 * Callers order videos while replicas, Redis and PostgreSQL die, stand still and come back. Then what vendors made is compared with
 * what the ledger holds, and with what callers are told: each was made once, has one entry at its vendor's truth, and its end was told of.
 */
export async function proveVideos(options: VideosOptions): Promise<readonly Finding[]> {
  const sql = new Bun.SQL(options.replicas.databaseUrl, { max: 1 });
  const clock = await LeapingClock.of(sql);
  const ground: Ground = { ...options, sql, clock, faults: [] };
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
      key: provedKeys.videos,
      orders: ordersOf(options.orders, vendorSecondMs),
      pauseMs,
      callbackUrl: host.url,
    });
    const loaded = load.run(callers).then(() => true);
    const chance = seededChance(options.seed);
    const { struck, faults } = await troubleThem({
      ...options,
      between: (least, most) => least + Math.floor(chance.unit() * (most - least + 1)),
      isEnough: () => load.begun === options.orders,
      reached: () => `${load.begun} videos ordered`,
    });
    ground.faults.push(...faults);
    if ((await whileMoving(loaded, () => load.placed)) === null) throw new Error("orders still wait for an answer");
    await quiet(ground);
    const placed = await load.repeat(callers);
    const waiting = (await shownTasks(ground)).filter(isOpen).length;
    await leap(ground, pastEveryDeadlineMs);
    const shown = await until(async () => {
      const all = await shownTasks(ground);
      return all.some(isOpen) ? null : all;
    });
    await until(() => host.told === shown.length).catch(() => undefined);
    return [
      finding(
        `kill loop: ${options.orders} videos ordered, ${placed.filter(({ unanswered }) => unanswered > 0).length} of them again, for want of an answer`,
        say(struck),
        ground.faults,
      ),
      ...(await books(ground, { placed, shown, waiting, gateway: first })),
      finding(
        "each end of a video is told of at least once, by one id",
        `${host.told} of ${shown.length} ends in ${host.messages} messages`,
        host.faults(shown),
      ),
    ];
  } finally {
    host.stop();
    await sql.end();
  }
}

interface Outcome {
  readonly placed: readonly Placed[];
  readonly shown: readonly ShownTask[];
  /** Tasks of which nobody could know anything before their deadline. */
  readonly waiting: number;
  readonly gateway: Gateway;
}

/** What vendors made, what the ledger holds of it, and what every replica counts. */
async function books(ground: Ground, { placed, shown, waiting, gateway }: Outcome): Promise<readonly Finding[]> {
  const { simulator, gateways } = ground.replicas;
  const verify = await gateway.cli("ledger", "verify");
  const rows = await everyRow(gateway);
  const made = await simulator.tasks();
  const requests = readRequests(ground.truthFile);
  const verdict = judgeVideos({ placed, shown, rows, made, requests });
  const pictures = picturesIn(requests, rows);
  const booked = rows
    .filter(({ endpoint }) => endpoint === "video")
    .reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0);
  const told = await Promise.all(gateways.map(({ url }) => standing(url, booked)));
  const left = await until(async () => (await ground.bucket.objects()) === 0).catch(() => false);
  const outcomes = say(new Map(Object.entries(verdict.outcomes)));
  return [
    finding(
      "every video was made once and has one entry, at its vendor's truth",
      `${verdict.made} made of ${verdict.orders} orders, ${verdict.entries} entries (${outcomes}; ${waiting} waited for their deadline)`,
      [
        unlike("entries", verdict.entries, verdict.orders),
        unlike("requests with half a picture", pictures.cut, 0),
        left ? null : `${await ground.bucket.objects()} pictures are left in the bucket`,
        // So hard that most were lost, it would prove nothing.
        (verdict.outcomes["succeeded"] ?? 0) > verdict.orders / 2 ? null : "fewer than half of the videos were made",
        ...verdict.faults,
      ],
    ),
    finding("sluice ledger verify", `status ${verify.status}`, [
      verify.status === 0 ? null : `${verify.stdout}${verify.stderr}`.trim(),
    ]),
    finding(
      "the videos' budget as every replica counts it",
      `${booked} nano-USD in the ledger`,
      told.map((one, at) => unlike(`replica ${at + 1}`, one, `${booked} nano-USD, 0 under way`)),
    ),
  ];
}

/** What a replica tells, once it tells what was booked and that nothing is held; else what it tells at last. */
async function standing(url: string, booked: number): Promise<string> {
  let latest = { running: Number.NaN, spentNanoUsd: Number.NaN };
  await until(async () => {
    latest = (await readKeyUsage(url, provedKeys.videos)) ?? latest;
    return latest.spentNanoUsd === booked && latest.running === 0;
  }).catch(() => undefined);
  return `${latest.spentNanoUsd} nano-USD, ${latest.running} under way`;
}

/** Until looks at vendors, over so long a time, have ended nothing more. */
async function quiet(ground: Ground): Promise<void> {
  const open = async (): Promise<number> => (await shownTasks(ground)).filter(isOpen).length;
  // What killed replicas were working on is anybody's again.
  await leap(ground, leaseMs);
  for (let before = Number.NaN, now = await open(); now !== before; ) {
    before = now;
    for (let passedMs = 0; passedMs < quietMs; passedMs += quietLeapMs) await leap(ground, quietLeapMs);
    now = await open();
  }
}

/** Time passes while no replica runs; then every task that is due is looked at. */
async function leap({ replicas: { gateways }, sql, clock, faults }: Ground, ms: number): Promise<void> {
  const statuses = await Promise.all(gateways.map((gateway) => gateway.stop()));
  for (const [at, status] of statuses.entries()) {
    const fault = unlike(`exit status of replica ${at + 1}`, status, 0);
    if (fault !== null) faults.push(fault);
  }
  await clock.leap(ms);
  await Promise.all(gateways.map((gateway) => gateway.restart()));
  const due = tasksDueInPostgres(sql);
  const nowMs = await clock.now();
  await until(async () => (await due(nowMs)) === 0);
}

async function shownTasks({ replicas: { gateways } }: Ground): Promise<readonly ShownTask[]> {
  return await everyTask(gateways[0]?.url ?? "", provedKeys.videos);
}
