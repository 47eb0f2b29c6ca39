import { afterAll, afterEach, beforeAll, test } from "bun:test";
import { createRedisCounter, type RedisCounter } from "#coordination/index.ts";
import type { Counter } from "#ports/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { patienceMs } from "../../../test/until.ts";
import { asCalls } from "./counter-claims.ts";
import { counterSuite } from "./counter-suite.ts";
import { waitsForServer } from "./redis-clock.ts";

if (noRedis === null) {
  let server: RedisServer;
  const open: RedisCounter[] = [];
  let count = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => {
    for (const counter of open.splice(0)) counter.close();
  });
  afterAll(() => server.stop());
  // Leases shares of every limit, however small, after few calls.
  counterSuite("redis, leased in shares", async (clock): Promise<Counter> => {
    const counter = await createRedisCounter({
      url: server.url,
      clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after: waitsForServer },
      ids: createIds(systemClock),
      observer: { log: () => {} },
      namespace: `sluice-${++count}`,
      answerMs: patienceMs,
      nowMs: () => clock.monotonic(),
      shares: { callsPerLimitMin: 1, callsMin: 4, syncMsMin: 0 },
    });
    open.push(counter);
    return asCalls(counter);
  });
} else test.skip(`counter: redis, leased in shares (${noRedis})`, () => {});
