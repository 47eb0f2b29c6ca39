import { fillDisk, freeDisk } from "../../scripts/full-disk.mjs";
import type { PostgresOfTests } from "../../scripts/postgres.mjs";
import type { Replicas } from "../acceptance/replicas.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { type Pace, progress } from "./pace.ts";
import type { Weather } from "./tcp-proxy.ts";
import { type Server, servers, type Ways } from "./ways.ts";

export interface TroublesOptions {
  readonly replicas: Replicas;
  readonly postgres: PostgresOfTests;
  readonly ways: Ways;
  readonly pace: Pace;
  /** By when they must have come, in milliseconds of `performance.now`. */
  readonly untilMs: number;
  /** A whole number of these, both included, by the seed. */
  readonly between: (least: number, most: number) => number;
  /** Whether callers have had enough, each trouble having come at least once. */
  readonly isEnough: () => boolean;
  /** How far the callers are, in a few words. */
  readonly reached: () => string;
}

/** Of what a replica has printed. */
const tailLength = 2_000;
const longestMs = 90_000;

/** Peace between two troubles. */
const peaceMs = [400, 1_500] as const;

type Trouble = readonly [name: string, strike: () => Promise<void>];

/** One trouble after the other, each as often as the others, in an order of chance. */
export async function troubleThem(options: TroublesOptions): Promise<{
  /** How often each befell them, by name. */
  readonly struck: ReadonlyMap<string, number>;
  readonly faults: string[];
}> {
  const struck = new Map<string, number>();
  const faults: string[] = [];
  const all = troubles(options);
  let waiting: Trouble[] = [];
  while (!options.isEnough() || struck.size < all.length || waiting.length > 0) {
    if (performance.now() > options.untilMs) {
      const seen = `${struck.size} of ${all.length} kinds of trouble, ${options.reached()}`;
      // Whoever said how long it is to last takes what comes in that time.
      if (options.pace.minutes === null) faults.push(`it took too long: ${seen}`);
      else progress(`time is over: ${seen}`);
      break;
    }
    if (waiting.length === 0) waiting = [...all];
    await Bun.sleep(options.between(...peaceMs));
    const [[name, strike] = all[0] as Trouble] = waiting.splice(options.between(0, waiting.length - 1), 1);
    const fromMs = performance.now();
    try {
      await strike();
    } catch (thrown) {
      // A replica that does not start again says why at the end of what it printed.
      faults.push(`${name}: ${String(thrown).slice(-tailLength)}`);
      break;
    }
    progress(`${name}, ${((performance.now() - fromMs) / 1_000).toFixed(1)} s; ${options.reached()}`);
    struck.set(name, (struck.get(name) ?? 0) + 1);
    options.replicas.gateways.forEach((gateway, at) => {
      if (!isRunning(gateway.pid())) faults.push(`replica ${at + 1} ended by itself after: ${name}\n${tail(gateway)}`);
    });
    if (faults.length > 0) break;
  }
  // At once: what is judged afterwards may break off where a replica is gone.
  for (const fault of faults) progress(fault);
  return { struck, faults };
}

function troubles(options: TroublesOptions): readonly Trouble[] {
  const { replicas, postgres, ways, pace, between } = options;
  const { gateways, redis } = replicas;
  const any = (): Gateway => gateways[between(0, gateways.length - 1)] as Gateway;
  const while_ = (least: number, most: number) => Bun.sleep(between(least, most));
  /** A replica and a server part; in later rounds, one time in four, for up to a minute and a half. */
  const apart = async (server: Server, weather: Weather, least: number, most: number): Promise<void> => {
    const replica = between(0, gateways.length - 1);
    await ways.set(replica, server, weather);
    await (pace.round > 0 && between(1, 4) === 1 ? while_(2_000, longestMs) : while_(least, most));
    await ways.set(replica, server, { kind: "fair" });
  };
  const runRedis = async (): Promise<void> => {
    if (!(await redis.run())) throw new Error("Redis did not start again");
  };
  const killed = async (gateway: Gateway): Promise<void> => {
    await gateway.kill9();
    await gateway.restart();
  };
  return [
    ["replica killed", () => killed(any())],
    [
      "replica killed while it drains",
      async () => {
        const gateway = any();
        process.kill(gateway.pid(), "SIGTERM");
        await while_(1, 200);
        await killed(gateway);
      },
    ],
    ["all replicas killed", async () => void (await Promise.all(gateways.map(killed)))],
    [
      "replica stopped and continued",
      async () => {
        const { pid } = any();
        process.kill(pid(), "SIGSTOP");
        await while_(500, 4_000);
        process.kill(pid(), "SIGCONT");
      },
    ],
    [
      "Redis killed and emptied",
      async () => {
        await redis.end();
        await while_(0, 1_500);
        await runRedis();
      },
    ],
    [
      "Redis stopped and continued",
      async () => {
        redis.pause();
        await while_(300, 4_000);
        redis.resume();
      },
    ],
    [
      "replica killed while Redis is away",
      async () => {
        await redis.end();
        const gateway = any();
        await gateway.kill9();
        await while_(0, 500);
        await runRedis();
        await gateway.restart();
      },
    ],
    [
      "PostgreSQL stopped and continued",
      async () => {
        await postgres.befalls("pause");
        await while_(300, 5_000);
        await postgres.befalls("resume");
      },
    ],
    [
      "PostgreSQL killed",
      async () => {
        await postgres.befalls("kill");
        await while_(0, 3_000);
        await postgres.befalls("run");
      },
    ],
    [
      // Longer than any time-out of a call or a statement.
      "PostgreSQL stopped for a minute",
      async () => {
        await postgres.befalls("pause");
        await while_(61_000, 75_000);
        await postgres.befalls("resume");
      },
    ],
    [
      "Redis emptied while journals wait for PostgreSQL",
      async () => {
        await postgres.befalls("pause");
        await while_(300, 3_000);
        await redis.end();
        await runRedis();
        await while_(0, 1_000);
        await postgres.befalls("resume");
      },
    ],
    ["replica cut off from PostgreSQL", () => apart("PostgreSQL", { kind: "cut off" }, 2_000, 15_000)],
    ["replica cut off from Redis", () => apart("Redis", { kind: "cut off" }, 2_000, 10_000)],
    // Longer than the lease of what it holds there.
    ["replica cut off from Redis for longer than its lease", () => apart("Redis", { kind: "cut off" }, 33_000, 45_000)],
    ["answers of PostgreSQL to a replica lost", () => apart("PostgreSQL", { kind: "answers lost" }, 2_000, 8_000)],
    ["answers of Redis to a replica lost", () => apart("Redis", { kind: "answers lost" }, 2_000, 8_000)],
    ["PostgreSQL slow for a replica", () => apart("PostgreSQL", { kind: "slow", ms: 500 }, 3_000, 10_000)],
    ["Redis slow for a replica", () => apart("Redis", { kind: "slow", ms: 500 }, 3_000, 10_000)],
    [
      "connections of a replica reset",
      async () => {
        const replica = between(0, gateways.length - 1);
        for (const server of servers) await ways.reset(replica, server);
      },
    ],
    [
      "Redis emptied while the journal of one replica waits",
      async () => {
        const replica = between(0, gateways.length - 1);
        await ways.set(replica, "PostgreSQL", { kind: "cut off" });
        await while_(4_000, 10_000);
        await redis.end();
        await runRedis();
        await while_(1_000, 3_000);
        await ways.set(replica, "PostgreSQL", { kind: "fair" });
      },
    ],
    [
      "replica cut off from both and killed",
      async () => {
        const replica = between(0, gateways.length - 1);
        for (const server of servers) await ways.set(replica, server, { kind: "cut off" });
        await while_(500, 4_000);
        await gateways[replica]?.kill9();
        for (const server of servers) await ways.set(replica, server, { kind: "fair" });
        await gateways[replica]?.restart();
      },
    ],
    [
      "disk of a replica full",
      async () => {
        const gateway = any();
        fillDisk(gateway.pid());
        await while_(500, 4_000);
        freeDisk(gateway.pid());
      },
    ],
    [
      "disk of PostgreSQL full",
      async () => {
        await postgres.befalls("fill");
        await while_(500, 3_000);
        await postgres.befalls("free");
      },
    ],
    [
      "replica killed while PostgreSQL is away",
      async () => {
        await postgres.befalls("kill");
        await while_(100, 1_000);
        const gateway = any();
        await gateway.kill9();
        await postgres.befalls("run");
        await gateway.restart();
      },
    ],
  ];
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function tail(gateway: Gateway): string {
  return gateway.output().slice(-tailLength);
}
