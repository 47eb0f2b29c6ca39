import { fillDisk, freeDisk } from "../../scripts/full-disk.mjs";
import type { TestPostgres } from "../../scripts/postgres.mjs";
import type { Replicas } from "../acceptance/replicas.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { type Pace, progress } from "./pace.ts";
import { type Proxies, type Server, servers } from "./proxies.ts";
import type { NetworkState } from "./tcp-proxy.ts";

export interface DisruptOptions {
  readonly replicas: Replicas;
  readonly postgres: TestPostgres;
  readonly proxies: Proxies;
  readonly pace: Pace;
  /** When they must be done, in milliseconds of `performance.now`. */
  readonly untilMs: number;
  /** A random whole number from `min` to `max`, both included, derived from the seed. */
  readonly between: (min: number, max: number) => number;
  /** Whether there were enough calls; the loop also waits until each disruption has happened once. */
  readonly isEnough: () => boolean;
  /** The progress of the callers, in a few words. */
  readonly reached: () => string;
}

/** How much of a replica's output is shown, in characters. */
const tailLength = 2_000;
const longestMs = 90_000;

/** The pause between two disruptions. */
const pauseMs = [400, 1_500] as const;

type Disruption = readonly [name: string, run: () => Promise<void>];

/** Runs one disruption after the other, all equally often, in random order. */
export async function disrupt(options: DisruptOptions): Promise<{
  /** How often each disruption happened, by name. */
  readonly counts: ReadonlyMap<string, number>;
  readonly faults: string[];
}> {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  const all = disruptions(options);
  let waiting: Disruption[] = [];
  while (!options.isEnough() || counts.size < all.length || waiting.length > 0) {
    if (performance.now() > options.untilMs) {
      const seen = `${counts.size} of ${all.length} kinds of disruption, ${options.reached()}`;
      // With a given duration, what happened within it is enough.
      if (options.pace.minutes === null) faults.push(`it took too long: ${seen}`);
      else progress(`time is over: ${seen}`);
      break;
    }
    if (waiting.length === 0) waiting = [...all];
    await Bun.sleep(options.between(...pauseMs));
    const [[name, run] = all[0] as Disruption] = waiting.splice(options.between(0, waiting.length - 1), 1);
    const fromMs = performance.now();
    try {
      await run();
    } catch (thrown) {
      // If a replica does not restart, the end of its output contains the reason.
      faults.push(`${name}: ${String(thrown).slice(-tailLength)}`);
      break;
    }
    progress(`${name}, ${((performance.now() - fromMs) / 1_000).toFixed(1)} s; ${options.reached()}`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    options.replicas.gateways.forEach((gateway, at) => {
      if (!isRunning(gateway.pid()))
        faults.push(`replica ${at + 1} ended unexpectedly after: ${name}\n${tail(gateway)}`);
    });
    if (faults.length > 0) break;
  }
  // Print problems now, because the checks that follow may fail if a replica is gone.
  for (const fault of faults) progress(fault);
  return { counts, faults };
}

function disruptions(options: DisruptOptions): readonly Disruption[] {
  const { replicas, postgres, proxies, pace, between } = options;
  const { gateways, redis } = replicas;
  const anyGateway = (): Gateway => gateways[between(0, gateways.length - 1)] as Gateway;
  const sleepBetween = (min: number, max: number) => Bun.sleep(between(min, max));
  /** Disturbs the connections between a replica and a server; in later rounds, one time in four, for up to 90 seconds. */
  const disturb = async (server: Server, state: NetworkState, min: number, max: number): Promise<void> => {
    const replica = between(0, gateways.length - 1);
    await proxies.set(replica, server, state);
    await (pace.round > 0 && between(1, 4) === 1 ? sleepBetween(2_000, longestMs) : sleepBetween(min, max));
    await proxies.set(replica, server, { kind: "normal" });
  };
  const runRedis = async (): Promise<void> => {
    if (!(await redis.run())) throw new Error("Redis did not restart");
  };
  const killAndRestart = async (gateway: Gateway): Promise<void> => {
    await gateway.kill9();
    await gateway.restart();
  };
  return [
    ["replica killed", () => killAndRestart(anyGateway())],
    [
      "replica killed while it drains",
      async () => {
        const gateway = anyGateway();
        process.kill(gateway.pid(), "SIGTERM");
        await sleepBetween(1, 200);
        await killAndRestart(gateway);
      },
    ],
    ["all replicas killed", async () => void (await Promise.all(gateways.map(killAndRestart)))],
    [
      "replica paused and resumed",
      async () => {
        const { pid } = anyGateway();
        process.kill(pid(), "SIGSTOP");
        await sleepBetween(500, 4_000);
        process.kill(pid(), "SIGCONT");
      },
    ],
    [
      "Redis killed and emptied",
      async () => {
        await redis.end();
        await sleepBetween(0, 1_500);
        await runRedis();
      },
    ],
    [
      "Redis paused and resumed",
      async () => {
        redis.pause();
        await sleepBetween(300, 4_000);
        redis.resume();
      },
    ],
    [
      "replica killed while Redis is down",
      async () => {
        await redis.end();
        const gateway = anyGateway();
        await gateway.kill9();
        await sleepBetween(0, 500);
        await runRedis();
        await gateway.restart();
      },
    ],
    [
      "PostgreSQL paused and resumed",
      async () => {
        await postgres.control("pause");
        await sleepBetween(300, 5_000);
        await postgres.control("resume");
      },
    ],
    [
      "PostgreSQL killed",
      async () => {
        await postgres.control("kill");
        await sleepBetween(0, 3_000);
        await postgres.control("start");
      },
    ],
    [
      // Longer than any timeout of a call or a statement.
      "PostgreSQL paused for a minute",
      async () => {
        await postgres.control("pause");
        await sleepBetween(61_000, 75_000);
        await postgres.control("resume");
      },
    ],
    [
      "Redis emptied while PostgreSQL is paused",
      async () => {
        await postgres.control("pause");
        await sleepBetween(300, 3_000);
        await redis.end();
        await runRedis();
        await sleepBetween(0, 1_000);
        await postgres.control("resume");
      },
    ],
    ["replica cut off from PostgreSQL", () => disturb("PostgreSQL", { kind: "cut off" }, 2_000, 15_000)],
    ["replica cut off from Redis", () => disturb("Redis", { kind: "cut off" }, 2_000, 10_000)],
    // Longer than the leases that the replica holds in Redis.
    [
      "replica cut off from Redis for longer than its lease",
      () => disturb("Redis", { kind: "cut off" }, 33_000, 45_000),
    ],
    ["answers of PostgreSQL to a replica lost", () => disturb("PostgreSQL", { kind: "answers lost" }, 2_000, 8_000)],
    ["answers of Redis to a replica lost", () => disturb("Redis", { kind: "answers lost" }, 2_000, 8_000)],
    ["PostgreSQL slow for a replica", () => disturb("PostgreSQL", { kind: "slow", ms: 500 }, 3_000, 10_000)],
    ["Redis slow for a replica", () => disturb("Redis", { kind: "slow", ms: 500 }, 3_000, 10_000)],
    [
      "connections of a replica reset",
      async () => {
        const replica = between(0, gateways.length - 1);
        for (const server of servers) await proxies.reset(replica, server);
      },
    ],
    [
      "Redis emptied while one replica's journal is not drained",
      async () => {
        const replica = between(0, gateways.length - 1);
        await proxies.set(replica, "PostgreSQL", { kind: "cut off" });
        await sleepBetween(4_000, 10_000);
        await redis.end();
        await runRedis();
        await sleepBetween(1_000, 3_000);
        await proxies.set(replica, "PostgreSQL", { kind: "normal" });
      },
    ],
    [
      "replica cut off from both and killed",
      async () => {
        const replica = between(0, gateways.length - 1);
        for (const server of servers) await proxies.set(replica, server, { kind: "cut off" });
        await sleepBetween(500, 4_000);
        await gateways[replica]?.kill9();
        for (const server of servers) await proxies.set(replica, server, { kind: "normal" });
        await gateways[replica]?.restart();
      },
    ],
    [
      "disk of a replica is full",
      async () => {
        const gateway = anyGateway();
        fillDisk(gateway.pid());
        await sleepBetween(500, 4_000);
        freeDisk(gateway.pid());
      },
    ],
    [
      "disk of PostgreSQL is full",
      async () => {
        await postgres.control("fill-disk");
        await sleepBetween(500, 3_000);
        await postgres.control("free-disk");
      },
    ],
    [
      "replica killed while PostgreSQL is down",
      async () => {
        await postgres.control("kill");
        await sleepBetween(100, 1_000);
        const gateway = anyGateway();
        await gateway.kill9();
        await postgres.control("start");
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
