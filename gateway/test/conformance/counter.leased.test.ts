import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createRedisCounter, type RedisCounter } from "#coordination/index.ts";
import { shareSyncMs } from "#coordination/redis/shares/share-sync.ts";
import type { Clock, Counter } from "#ports/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { patienceMs } from "../../../test/until.ts";
import { granted } from "../coordination/redis-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { asCalls, windowClaim } from "./counter-claims.ts";
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
  /** Leases shares of every limit, however small, after few calls. */
  const createCounter = async (clock: Clock, after: Clock["after"] = waitsForServer): Promise<Counter> => {
    const counter = await createRedisCounter({
      url: server.url,
      clock: { now: () => clock.now(), monotonic: () => clock.monotonic(), after },
      ids: createIds(systemClock),
      observer: { log: () => {} },
      namespace: `sluice-${++count}`,
      answerMs: patienceMs,
      nowMs: () => clock.monotonic(),
      shares: { callsPerLimitMin: 1, callsMin: 4, syncMsMin: 0 },
    });
    open.push(counter);
    return asCalls(counter);
  };
  counterSuite("redis, leased in shares", createCounter);

  test("a share that is granted while a state is read does not delay freeInMs", async () => {
    const clock = new FakeClock();
    let sync = () => {};
    const counter = await createCounter(clock, (ms, run) => {
      if (ms !== shareSyncMs) return waitsForServer(ms, run);
      sync = run;
      return () => {};
    });
    for (let call = 0; call < 10; call++) {
      clock.advance(2_000);
      await granted(counter, [windowClaim("k", 10)]);
    }
    // Seven calls have left the window at 75 s. At 74 s six have, so there is something to lease.
    clock.advance(54_000);
    const state = counter.peek(windowClaim("k", 10, 7));
    sync();
    expect((await state).freeInMs).toBe(1_000);
  });
} else test.skip(`counter: redis, leased in shares (${noRedis})`, () => {});
