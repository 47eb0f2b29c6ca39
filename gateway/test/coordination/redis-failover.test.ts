import { describe, expect, test } from "bun:test";
import type { RedisCounter, Seeding } from "#coordination/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { ask, isInStep, RedisCluster } from "./redis-cluster.ts";
import { granted, RedisGround } from "./redis-ground.ts";

describe.skipIf(noRedis !== null)(`a Redis whose place another takes${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  test("sentinels make a replica the master: every process finds it, one of them seeds it, and what runs keeps its place", async () => {
    const ground = await RedisGround.open("--repl-diskless-sync-delay", "0");
    const servers: RedisServer[] = [];
    try {
      const replica = await RedisServer.start("--replicaof", `127.0.0.1 ${ground.server.port}`);
      servers.push(replica);
      // A sentinel asks the master for its replicas at once, and then not before ten seconds; of a master that is gone, never.
      await until(() => isInStep(replica.port));
      for (let count = 0; count < 3; count++) servers.push(await RedisServer.sentinel("limits", ground.server.port, 2));
      const sentinels = servers.slice(1).map(({ port }) => port);
      await until(async () => (await Promise.all(sentinels.map(canElect))).every(Boolean));
      const [first, ...others] = sentinels.map((port) => `127.0.0.1:${port}`);
      const url = `redis://${first}?master_name=limits&${others.map((address) => `addr=${address}`).join("&")}`;
      await survives(ground, url, async () => {
        const master = await masterKnown(servers[1]?.port ?? 0);
        await [ground.server, replica].find(({ port }) => port === master)?.end();
      });
    } finally {
      for (const server of servers.reverse()) await server.stop();
      await ground.close();
    }
  });

  test("a sentinel that stands still, or a machine without power, holds up nobody while another one answers", async () => {
    const ground = await RedisGround.open();
    const sentinels: RedisServer[] = [];
    try {
      for (let count = 0; count < 3; count++)
        sentinels.push(await RedisServer.sentinel("limits", ground.server.port, 2));
      const [still, gone, living] = sentinels.map(({ port }) => `127.0.0.1:${port}`);
      sentinels[0]?.pause();
      sentinels[1]?.pause();
      const url = `redis://${still}?master_name=limits&addr=${gone}&addr=${living}`;
      const counter = await ground.counter({}, url);
      await until(() => counter.isUp);
      await granted(counter, [gaugeClaim("g", 4)]);
    } finally {
      for (const server of sentinels.reverse()) await server.stop();
      await ground.close();
    }
  });

  test("a cluster replaces the master of the limits by its replica: counts go on, never beyond a limit, and calls are back after the election", async () => {
    const ground = await RedisGround.open();
    const cluster = await RedisCluster.start();
    try {
      let gone: RedisServer | null = null;
      await survives(ground, cluster.url(), async () => {
        const { server, keys } = await cluster.masterOf("{sluice}:epoch");
        expect(keys).toBeGreaterThan(0);
        gone = server;
        await server.end();
      });
      const after = await cluster.masterOf("{sluice}:epoch");
      expect<RedisServer | null>(after.server).not.toBe(gone);
      expect(after.keys).toBeGreaterThan(0);
    } finally {
      await ground.close();
      await cluster.stop();
    }
  });
});

/** Three processes hold places of eight; then what befalls the server, and a window that the ledger knows some of. */
async function survives(ground: RedisGround, url: string, befalls: () => Promise<void>): Promise<void> {
  let seeded = 0;
  const seed = async (counter: Seeding): Promise<void> => {
    seeded++;
    await counter.seed("w", 7, systemClock.now(), 60_000);
  };
  const counters: RedisCounter[] = [];
  for (let count = 0; count < 3; count++) counters.push(await ground.counter({ seed }, url));
  const places = gaugeClaim("g", 4);
  for (const counter of counters) await granted(counter, [places]);
  const before = counters.map(({ epochs }) => epochs);
  const seededBefore = seeded;
  await befalls();
  // Callers go on; without them it would be found out with the next renewal of a lease.
  await Promise.all(counters.map((counter) => counter.peek(places)));
  await until(() => counters.every(({ isUp, epochs }, at) => isUp && epochs === (before[at] ?? 0) + 1));
  expect(seeded).toBe(seededBefore + 1);
  const [one, two] = counters as [RedisCounter, RedisCounter];
  expect(await one.peek(windowClaim("w", 10))).toMatchObject({ used: 7 });
  await granted(two, [places]);
  expect(await one.reserve([places])).toMatchObject({ granted: false, reason: "limit" });
}

/** It knows both other sentinels, and the replica. */
async function canElect(port: number): Promise<boolean> {
  const known = async (whom: string) => {
    const told = await ask(port, ["SENTINEL", whom, "limits"]);
    return Array.isArray(told) ? told.length : 0;
  };
  return (await known("SENTINELS")) >= 2 && (await known("REPLICAS")) >= 1;
}

async function masterKnown(port: number): Promise<number> {
  const told = await ask(port, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "limits"]);
  return Number(Array.isArray(told) ? told[1] : 0);
}
