import { afterAll, afterEach, beforeAll, test } from "bun:test";
import { createRedisCounter, type RedisCounter } from "#coordination/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { patienceMs } from "../../../test/until.ts";
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
  // The counter waits on the machine's clock, but counts on the test's clock.
  counterSuite("redis", async (clock) => {
    const counter = await createRedisCounter({
      url: server.url,
      clock: { now: () => clock.now(), monotonic: () => systemClock.monotonic(), after: waitsForServer },
      ids: createIds(systemClock),
      observer: { log: () => {} },
      namespace: `sluice-${++count}`,
      answerMs: patienceMs,
      nowMs: () => clock.monotonic(),
    });
    open.push(counter);
    return counter;
  });
} else test.skip(`counter: redis (${noRedis})`, () => {});
