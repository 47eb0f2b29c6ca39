import type { ConfigFile } from "@sluice/contract";
import { RedisServer } from "../redis-server.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, type SimulatorSetup, startSimulator } from "./start-simulator.ts";

/** Gateways on one PostgreSQL and one Redis, each with a disk of its own, as pods have; the simulator is their upstream. */
export interface Replicas {
  readonly gateways: readonly Gateway[];
  readonly redis: RedisServer;
  readonly simulator: SimulatorProcess;
  /** Of the database that they share. */
  readonly databaseUrl: string;
  /** Stops all of them and drops the database. */
  close(): Promise<void>;
}

export interface ReplicasOptions {
  /** Of a PostgreSQL server's owner; the replicas get a database of their own there. */
  readonly postgresUrl: string;
  readonly count: number;
  readonly config: (simulatorUrl: string) => ConfigFile;
  readonly env?: Readonly<Record<string, string>>;
  readonly simulator?: SimulatorSetup;
  /** Each is told under which address it is reached, so that vendors can call back. */
  readonly knowTheirAddresses?: boolean;
  /** The address by which one of them (from 0) reaches a server. Left out: the server's own. */
  readonly wayTo?: (replica: number, server: "PostgreSQL" | "Redis", url: string) => Promise<string>;
}

export async function startReplicas(options: ReplicasOptions): Promise<Replicas> {
  const database = `sluice_replicas_${process.pid}`;
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    await inDatabase(options.postgresUrl, `create database ${database}`);
    closing.push(() => inDatabase(options.postgresUrl, `drop database if exists ${database} with (force)`));
    const simulator = await startSimulator(options.simulator);
    closing.push(() => simulator.stop());
    const redis = await RedisServer.start();
    closing.push(() => redis.stop());
    const address = new URL(options.postgresUrl);
    address.pathname = `/${database}`;
    const wayTo = options.wayTo ?? (async (_replica: number, _server: string, url: string) => url);
    const shared = {
      SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef",
      SLUICE_BLOBS: "separate",
      ...options.env,
    };
    const config = options.config(simulator.url);
    const start = async (replica: number): Promise<Gateway> => {
      const env = {
        SLUICE_DATABASE_URL: await wayTo(replica, "PostgreSQL", address.href),
        SLUICE_REDIS_URL: await wayTo(replica, "Redis", redis.url),
        ...shared,
      };
      const gateway = await startGateway({ config, env, knowsItsAddress: options.knowTheirAddresses === true });
      closing.push(() => gateway.remove());
      return gateway;
    };
    // One first: it makes the tables, the others find them.
    const first = await start(0);
    const others = await Promise.all(Array.from({ length: options.count - 1 }, (_, at) => start(at + 1)));
    return { gateways: [first, ...others], redis, simulator, databaseUrl: address.href, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function inDatabase(url: string, statement: string): Promise<void> {
  const sql = new Bun.SQL(url, { max: 1 });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
