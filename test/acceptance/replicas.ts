import type { ConfigFile } from "@sluice/contract";
import { RedisServer } from "../redis-server.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, type SimulatorSetup, startSimulator } from "./start-simulator.ts";

/** Gateways that share a PostgreSQL database and a Redis server, each with its own disk, like pods. The simulator is the upstream. */
export interface Replicas {
  readonly gateways: readonly Gateway[];
  readonly redis: RedisServer;
  readonly simulator: SimulatorProcess;
  /** The URL of the shared database. */
  readonly databaseUrl: string;
  /** Stops all processes and drops the database. */
  close(): Promise<void>;
}

export interface ReplicasOptions {
  /** The URL of a PostgreSQL server's owner. The replicas get a new database on that server. */
  readonly postgresUrl: string;
  readonly count: number;
  readonly config: (simulatorUrl: string) => ConfigFile;
  readonly env?: Readonly<Record<string, string>>;
  readonly simulator?: SimulatorSetup;
  /** Whether each gateway gets its own address as its public URL, so that vendors can call back. */
  readonly setPublicUrl?: boolean;
  /** The URL by which a replica (from 0) reaches a server. Default: the server's own. */
  readonly proxyUrl?: (replica: number, server: "PostgreSQL" | "Redis", url: string) => Promise<string>;
}

export async function startReplicas(options: ReplicasOptions): Promise<Replicas> {
  const database = `sluice_replicas_${process.pid}`;
  const cleanup: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of cleanup.splice(0).reverse()) await step();
  };
  try {
    await execute(options.postgresUrl, `create database ${database}`);
    cleanup.push(() => execute(options.postgresUrl, `drop database if exists ${database} with (force)`));
    const simulator = await startSimulator(options.simulator);
    cleanup.push(() => simulator.stop());
    const redis = await RedisServer.start();
    cleanup.push(() => redis.stop());
    const address = new URL(options.postgresUrl);
    address.pathname = `/${database}`;
    const proxyUrl = options.proxyUrl ?? (async (_replica: number, _server: string, url: string) => url);
    const shared = {
      SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef",
      SLUICE_BLOBS: "separate",
      ...options.env,
    };
    const config = options.config(simulator.url);
    const start = async (replica: number): Promise<Gateway> => {
      const env = {
        SLUICE_DATABASE_URL: await proxyUrl(replica, "PostgreSQL", address.href),
        SLUICE_REDIS_URL: await proxyUrl(replica, "Redis", redis.url),
        ...shared,
      };
      const gateway = await startGateway({ config, env, setPublicUrl: options.setPublicUrl === true });
      cleanup.push(() => gateway.remove());
      return gateway;
    };
    // The first one creates the tables.
    const first = await start(0);
    const others = await Promise.all(Array.from({ length: options.count - 1 }, (_, at) => start(at + 1)));
    return { gateways: [first, ...others], redis, simulator, databaseUrl: address.href, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function execute(url: string, statement: string): Promise<void> {
  const sql = new Bun.SQL(url, { max: 1 });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
