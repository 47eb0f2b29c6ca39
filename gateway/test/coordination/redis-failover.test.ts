import { describe, expect, test } from "bun:test";
import type { RedisCounter, Seeding } from "#coordination/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { ask, isSynced, RedisCluster } from "./redis-cluster.ts";
import { granted, RedisFixture } from "./redis-fixture.ts";

describe.skipIf(noRedis !== null)(`Redis failover${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  test("follows a Sentinel failover: every process finds the new master, one seeds it, and running calls keep their places", async () => {
    const fixture = await RedisFixture.open("--repl-diskless-sync-delay", "0");
    const servers: RedisServer[] = [];
    try {
      const replica = await RedisServer.start("--replicaof", `127.0.0.1 ${fixture.server.port}`);
      servers.push(replica);
      // A sentinel asks a master for its replicas at once and then only after ten seconds; it never asks a master that
      // is gone.
      await until(() => isSynced(replica.port));
      for (let count = 0; count < 3; count++)
        servers.push(await RedisServer.sentinel("limits", fixture.server.port, 2));
      const sentinels = servers.slice(1).map(({ port }) => port);
      await until(async () => (await Promise.all(sentinels.map(canFailOver))).every(Boolean));
      const [first, ...others] = sentinels.map((port) => `127.0.0.1:${port}`);
      const url = `redis://${first}?master_name=limits&${others.map((address) => `addr=${address}`).join("&")}`;
      await expectPlacesToSurvive(fixture, url, async () => {
        const master = await masterPort(servers[1]?.port ?? 0);
        await [fixture.server, replica].find(({ port }) => port === master)?.end();
      });
    } finally {
      for (const server of servers.reverse()) await server.stop();
      await fixture.close();
    }
  });

  test("is not delayed by a paused sentinel or an unreachable host while another sentinel answers", async () => {
    const fixture = await RedisFixture.open();
    const sentinels: RedisServer[] = [];
    try {
      for (let count = 0; count < 3; count++)
        sentinels.push(await RedisServer.sentinel("limits", fixture.server.port, 2));
      const [still, gone, living] = sentinels.map(({ port }) => `127.0.0.1:${port}`);
      sentinels[0]?.pause();
      sentinels[1]?.pause();
      const url = `redis://${still}?master_name=limits&addr=${gone}&addr=${living}`;
      const counter = await fixture.counter({}, url);
      await until(() => counter.isUp);
      await granted(counter, [gaugeClaim("g", 4)]);
    } finally {
      for (const server of sentinels.reverse()) await server.stop();
      await fixture.close();
    }
  });

  test("follows a cluster failover without exceeding a limit, and serves calls after the election", async () => {
    const fixture = await RedisFixture.open();
    const cluster = await RedisCluster.start();
    try {
      let gone: RedisServer | null = null;
      await expectPlacesToSurvive(fixture, cluster.url(), async () => {
        const { server, keys } = await cluster.masterOf("{sluice}:epoch");
        expect(keys).toBeGreaterThan(0);
        gone = server;
        await server.end();
      });
      const after = await cluster.masterOf("{sluice}:epoch");
      expect<RedisServer | null>(after.server).not.toBe(gone);
      expect(after.keys).toBeGreaterThan(0);
    } finally {
      await fixture.close();
      await cluster.stop();
    }
  });
});

/** Three processes hold places of eight while the server fails and the ledger holds part of a window. */
async function expectPlacesToSurvive(fixture: RedisFixture, url: string, fail: () => Promise<void>): Promise<void> {
  let seeded = 0;
  const seed = async (counter: Seeding): Promise<void> => {
    seeded++;
    await counter.seed("w", 7, systemClock.now(), 60_000);
  };
  const counters: RedisCounter[] = [];
  for (let count = 0; count < 3; count++) counters.push(await fixture.counter({ seed }, url));
  const places = gaugeClaim("g", 4);
  for (const counter of counters) await granted(counter, [places]);
  const before = counters.map(({ epochs }) => epochs);
  const seededBefore = seeded;
  await fail();
  // Calls detect the failure; without them the next lease renewal would.
  await Promise.all(counters.map((counter) => counter.peek(places)));
  await until(() => counters.every(({ isUp, epochs }, at) => isUp && epochs === (before[at] ?? 0) + 1));
  expect(seeded).toBe(seededBefore + 1);
  const [one, two] = counters as [RedisCounter, RedisCounter];
  expect(await one.peek(windowClaim("w", 10))).toMatchObject({ used: 7 });
  await granted(two, [places]);
  expect(await one.reserve([places])).toMatchObject({ granted: false, reason: "limit" });
}

/** Whether the sentinel has found both other sentinels and the replica. */
async function canFailOver(port: number): Promise<boolean> {
  const countOf = async (whom: string) => {
    const reply = await ask(port, ["SENTINEL", whom, "limits"]);
    return Array.isArray(reply) ? reply.length : 0;
  };
  return (await countOf("SENTINELS")) >= 2 && (await countOf("REPLICAS")) >= 1;
}

async function masterPort(port: number): Promise<number> {
  const reply = await ask(port, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "limits"]);
  return Number(Array.isArray(reply) ? reply[1] : 0);
}
