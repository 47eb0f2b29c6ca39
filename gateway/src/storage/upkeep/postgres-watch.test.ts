import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { until } from "../../../../test/until.ts";
import { silentObserver } from "../../../test/conformance/store-fixture.ts";
import { MovedClock } from "../../../test/moved-clock.ts";
import { openPostgresFixture, type PostgresFixture } from "../../../test/postgres-fixture.ts";
import { onPostgres } from "../../../test/postgres-server.ts";
import type { ServerSession } from "../database/database.ts";
import { postgresPingMsMax, watchPostgres } from "./postgres-watch.ts";

await onPostgres("the watch of a PostgreSQL server", () => {
  let fixture: PostgresFixture;
  beforeAll(async () => {
    fixture = await openPostgresFixture();
  });
  afterAll(async () => await fixture?.[Symbol.asyncDispose]());

  /** A watch with a connection that never answers, and the number of its pings. */
  function silentWatch() {
    const { database } = fixture;
    const clock = new MovedClock();
    let pings = 0;
    const openSession = async (): Promise<ServerSession> => {
      const session = await database.openSession?.();
      if (session === undefined) throw new Error("PostgreSQL opens sessions");
      const run = async () => {
        pings++;
        return await new Promise<never>(() => undefined);
      };
      return { onNotice: () => undefined, onEnd: () => undefined, isOver: false, end: () => session.end(), run };
    };
    const watch = watchPostgres({ database: { ...database, openSession }, clock, observer: silentObserver });
    return { watch, clock, pings: () => pings };
  }
  const question = async () => await fixture.database.kysely.selectFrom("settings").select("name").execute();

  test("treats a server that answers other statements as slow and refuses nothing", async () => {
    const { watch, clock, pings } = silentWatch();
    clock.move(bounds.postgresPingMs);
    await until(() => pings() === 1);
    await question();
    clock.move(postgresPingMsMax);
    await until(() => watch.remark === "the database is slow");
    expect(fixture.database.breaker?.isOpen).toBe(false);
    expect(await question()).not.toEqual([]);
    await watch.close();
  });

  test("treats a silent server as unreachable and refuses statements at once", async () => {
    const { watch, clock, pings } = silentWatch();
    clock.move(bounds.postgresPingMs);
    await until(() => pings() === 1);
    clock.move(postgresPingMsMax);
    await until(() => watch.remark === "the database is unreachable: it does not answer");
    await expect(question()).rejects.toMatchObject({ code: "storage_unavailable" });
    await watch.close();
    fixture.database.breaker?.close();
    expect(await question()).not.toEqual([]);
  });

  test.each([
    ["it does not answer", new Error("timeout expired")],
    ["it refuses connections", Object.assign(new Error("connect"), { code: "ECONNREFUSED" })],
  ])("gives the reason for a missing connection: %s", async (why, thrown) => {
    const { database } = fixture;
    const clock = new MovedClock();
    const openSession = () => Promise.reject(thrown);
    const watch = watchPostgres({ database: { ...database, openSession }, clock, observer: silentObserver });
    clock.move(bounds.postgresPingMs);
    await until(() => watch.remark !== null);
    expect(watch.remark).toBe(`the database is unreachable: ${why}`);
    await watch.close();
    database.breaker?.close();
  });

  test("sends one ping on a connection that several pings waited for", async () => {
    const timers = new Map<number, () => void>();
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      after(ms, act) {
        timers.set(ms, act);
        return () => void timers.delete(ms);
      },
    };
    const strike = async (ms: number): Promise<void> => {
      const act = await until(() => timers.get(ms));
      timers.delete(ms);
      act();
    };
    const { promise: opening, resolve: open } = Promise.withResolvers<ServerSession>();
    let pings = 0;
    const answer = Promise.withResolvers<readonly unknown[]>();
    const run = async () => {
      pings++;
      return await answer.promise;
    };
    const { database } = fixture;
    const watch = watchPostgres({
      database: { ...database, openSession: () => opening },
      clock,
      observer: silentObserver,
    });
    for (let attempt = 1; attempt <= 2; attempt++) {
      await strike(bounds.postgresPingMs);
      await strike(postgresPingMsMax);
    }
    await strike(bounds.postgresPingMs);
    open({ onNotice: () => undefined, onEnd: () => undefined, isOver: false, end: async () => undefined, run });
    await until(() => pings > 0);
    await new Promise(setImmediate);
    expect(pings).toBe(1);
    answer.resolve([{ reading: "off", schema: null }]);
    await watch.close();
    database.breaker?.close();
  });
});
