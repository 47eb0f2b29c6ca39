import { spawnSync } from "node:child_process";
import { startPostgres } from "../../scripts/postgres.mjs";
import { noRedis, RedisServer } from "../../test/redis-server.ts";
import { processTree, treeCpuMs } from "./process-tree.ts";
import type { Run } from "./run.ts";

/** A PostgreSQL and a Redis of the bench's own, on the cores of the upstream, for gateways that share them. */
export interface SharedServers {
  /** The environment of a gateway that has a database and a Redis database of its own. */
  environment(): Promise<Readonly<Record<string, string>>>;
  /** Processor time of each so far, in milliseconds. */
  cpuMs(): ServersCpu;
  stop(): Promise<void>;
}

export interface ServersCpu {
  readonly postgres: number;
  readonly redis: number;
}

/** This machine has no PostgreSQL or no Redis; the message says why. */
export class NoSharedServers extends Error {}

/** Throws NoSharedServers where they cannot be had. */
export async function startSharedServers(run: Run): Promise<SharedServers> {
  if (noRedis !== null) throw new NoSharedServers(noRedis);
  const [postgres, postgresPids] = await pinned(run, () => startPostgres());
  if (postgres.url === null) throw new NoSharedServers(`there is no PostgreSQL server: ${postgres.why}`);
  const { url } = postgres;
  const [redis, redisPids] = await pinned(run, () => RedisServer.start()).catch(async (thrown: unknown) => {
    await postgres.stop();
    throw thrown;
  });
  let made = 0;
  return {
    environment: async () => {
      const number = ++made;
      const address = new URL(url);
      address.pathname = `/sluice_bench_${number}`;
      const sql = new Bun.SQL(url, { max: 1 });
      try {
        await sql.unsafe(`create database sluice_bench_${number}`);
      } finally {
        await sql.end();
      }
      return {
        SLUICE_DATABASE_URL: address.href,
        SLUICE_REDIS_URL: `${redis.url}/${number}`,
        SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef",
        SLUICE_BLOBS: "separate",
      };
    },
    cpuMs: () => ({ postgres: sum(postgresPids), redis: sum(redisPids) }),
    stop: async () => {
      await redis.stop();
      await postgres.stop();
    },
  };
}

function sum(roots: readonly number[]): number {
  return roots.reduce((all, root) => all + treeCpuMs(root), 0);
}

/** What `start` starts is moved to the upstream's cores, and so is what that starts from then on. */
async function pinned<Value>(run: Run, start: () => Promise<Value>): Promise<readonly [Value, readonly number[]]> {
  const before = new Set(processTree(process.pid));
  const value = await start();
  const roots = processTree(process.pid).filter((pid) => !before.has(pid));
  const cores = run.cores.upstream.join();
  if (cores !== "") for (const pid of roots) spawnSync("taskset", ["-acp", cores, String(pid)], { stdio: "ignore" });
  // The tree of the first holds the others, which it has started.
  return [value, roots.slice(0, 1)];
}
