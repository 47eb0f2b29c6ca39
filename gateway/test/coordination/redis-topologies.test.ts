import { describe, expect, test } from "bun:test";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { ask } from "./redis-cluster.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

describe.skipIf(noRedis !== null)(`Redis topologies${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  test("finds a cluster through any of its three nodes and uses the node that owns the limits' slot", async () => {
    const settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
    const fixture = await RedisFixture.open(...settings);
    const others = [await RedisServer.start(...settings), await RedisServer.start(...settings)];
    const nodes = [fixture.server, ...others];
    try {
      const ranges = [
        ["0", "5460"],
        ["5461", "10922"],
        ["10923", "16383"],
      ] as const;
      for (const [index, { port }] of nodes.entries()) {
        await ask(port, ["CLUSTER", "ADDSLOTSRANGE", ...(ranges[index] ?? [])]);
        await ask(port, ["CLUSTER", "SET-CONFIG-EPOCH", String(index + 1)]);
        if (index > 0) await ask(port, ["CLUSTER", "MEET", "127.0.0.1", String(fixture.server.port)]);
      }
      await until(async () => {
        const infos = await Promise.all(nodes.map(({ port }) => ask(port, ["CLUSTER", "INFO"])));
        return infos.every((info) => /cluster_state:ok.*cluster_known_nodes:3/s.test(String(info)));
      });
      // Nothing listens on the first address, so the others are tried.
      const addresses = nodes.map(({ port }) => `addr=127.0.0.1:${port}`).join("&");
      const counter = await fixture.counter({}, `redis://127.0.0.1:1?cluster=true&${addresses}`);
      expect(counter.isUp).toBe(true);
      await setSpent(counter, "b");
      const claims = [windowClaim("w", 10), gaugeClaim("g", 1), budgetClaim("b", 100, 20)];
      const { ticket } = await granted(counter, claims);
      expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "limit" });
      await counter.settle(ticket, [1, 0, 0]);
      const sizes = await Promise.all(nodes.map(({ port }) => ask(port, ["DBSIZE"])));
      expect(sizes.filter((size) => Number(size) > 0)).toHaveLength(1);
    } finally {
      for (const server of others) await server.stop();
      await fixture.close();
    }
  });
});
