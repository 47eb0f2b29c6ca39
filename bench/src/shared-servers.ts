import { spawnSync } from "node:child_process";
import { startPostgres } from "../../scripts/postgres.mjs";
import { noRedis, RedisServer } from "../../test/redis-server.ts";
import { processTree, treeCpuMs } from "./process-tree.ts";
import type { Run } from "./run.ts";

/** PostgreSQL and Redis servers for the bench, on the upstream's cores, shared by gateways. */
export interface SharedServers {
  /** Environment of a gateway with a separate PostgreSQL database and Redis database. */
  environment(): Promise<Readonly<Record<string, string>>>;
  /** CPU time of each server so far, in milliseconds. */
  cpuMs(): ServersCpu;
  stop(): Promise<void>;
}

export interface ServersCpu {
  readonly postgres: number;
  readonly redis: number;
}

/** PostgreSQL or Redis is not available; the message has the reason. */
export class NoSharedServers extends Error {}

/** Throws NoSharedServers if they are not available. */
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

/** Pins processes started by `start`, and their later children, to the upstream's cores. */
async function pinned<Value>(run: Run, start: () => Promise<Value>): Promise<readonly [Value, readonly number[]]> {
  const before = new Set(processTree(process.pid));
  const value = await start();
  const roots = processTree(process.pid).filter((pid) => !before.has(pid));
  const cores = run.cores.upstream.join();
  if (cores !== "") for (const pid of roots) spawnSync("taskset", ["-acp", cores, String(pid)], { stdio: "ignore" });
  // The first process has started the others, so its tree contains them.
  return [value, roots.slice(0, 1)];
}
