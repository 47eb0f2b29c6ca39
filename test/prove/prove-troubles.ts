import { fillDisk, freeDisk } from "../../scripts/full-disk.mjs";
import type { PostgresOfTests } from "../../scripts/postgres.mjs";
import type { Replicas } from "../acceptance/replicas.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";

export interface TroublesOptions {
  readonly replicas: Replicas;
  readonly postgres: PostgresOfTests;
  /** The most that they may take. */
  readonly minutes: number;
  /** A whole number of these, both included, by the seed. */
  readonly between: (least: number, most: number) => number;
  /** Whether callers have had enough, each trouble having come at least once. */
  readonly isEnough: () => boolean;
}

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
  const endMs = performance.now() + options.minutes * 60_000;
  const all = troubles(options);
  let waiting: Trouble[] = [];
  while (!options.isEnough() || struck.size < all.length || waiting.length > 0) {
    if (performance.now() > endMs) {
      faults.push(`not enough calls in ${options.minutes} minutes, and ${struck.size} of ${all.length} troubles`);
      break;
    }
    if (waiting.length === 0) waiting = [...all];
    await Bun.sleep(options.between(...peaceMs));
    const [[name, strike] = all[0] as Trouble] = waiting.splice(options.between(0, waiting.length - 1), 1);
    await strike();
    struck.set(name, (struck.get(name) ?? 0) + 1);
    options.replicas.gateways.forEach((gateway, at) => {
      if (!isRunning(gateway.pid())) faults.push(`replica ${at + 1} ended by itself after: ${name}\n${tail(gateway)}`);
    });
    if (faults.length > 0) break;
  }
  return { struck, faults };
}

function troubles({ replicas: { gateways, redis }, postgres, between }: TroublesOptions): readonly Trouble[] {
  const any = (): Gateway => gateways[between(0, gateways.length - 1)] as Gateway;
  const while_ = (least: number, most: number) => Bun.sleep(between(least, most));
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
  return gateway.output().slice(-2_000);
}
