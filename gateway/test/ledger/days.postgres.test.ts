import { expect, test } from "bun:test";
import { sql } from "kysely";
import { createSoleLeadership } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import { createLedgerStore, type Database } from "#storage/index.ts";
import { summedAgainMs, summedDayLagMs } from "#storage/ledger/ledger-days.ts";
import { until } from "../../../test/until.ts";
import { keepLedger } from "../../src/main/upkeep.ts";
import { ledgerEntry, newYear, silentObserver } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { begun, untilWaiting } from "../held-transactions.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

const day = 86_400_000;

/** The treatment of a late entry by the fold of any version. */
const lateChange = "update only usage_rollups set attempts = attempts + 1, requests = requests + 1";

async function dayOf({ kysely }: Database) {
  const { rows } = await sql<{ ready: number; attempts: number }>`
    select (summed = touched) as ready,
      (select sum(attempts) from usage_days where grain = 'provider' and hour = day)::bigint as attempts
    from summed_days order by day desc limit 1`.execute(kysely);
  return rows[0] ?? null;
}

await onPostgres("sums of days", () => {
  test("includes a change that was not committed when its day was first summed", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const store = createLedgerStore(database);
    await store.insert([ledgerEntry("one", { at: newYear })]);
    await store.fold();
    const commit = await begun(database.kysely as never, lateChange);
    const summed = store.sumDay(newYear + 2 * day);
    await untilWaiting(url);
    await commit();
    expect(await summed).toBe(1);
    expect(await dayOf(database)).toEqual({ ready: 1, attempts: 2 });
  });

  test("ignores the sums of a day that changes while it is summed again, until they are recomputed", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const store = createLedgerStore(database);
    await store.insert([ledgerEntry("one", { at: newYear })]);
    await store.fold();
    expect(await store.sumDay(newYear + 2 * day)).toBe(1);
    await database.kysely.updateTable("summed_days").set({ summed: -1 }).execute();
    const commit = await begun(database.kysely as never, lateChange);
    const summed = store.sumDay(newYear + 3 * day);
    await untilWaiting(url);
    await commit();
    expect(await summed).toBe(1);
    expect(await dayOf(database)).toEqual({ ready: 0, attempts: 1 });
    expect(await store.sumDay(newYear + 4 * day)).toBe(1);
    expect(await dayOf(database)).toEqual({ ready: 1, attempts: 2 });
  });

  test("two processes that sum the same days at once, while entries arrive, agree", async () => {
    await using fixture = await openPostgresFixture();
    const store = createLedgerStore(fixture.database);
    const insert = async (round: number) =>
      await store.insert(
        Array.from({ length: 60 }, (_, n) =>
          ledgerEntry(`${round}_${n}`, { at: newYear + (n % 4) * day, keyId: `key_${n % 7}`, model: `m${n % 5}` }),
        ),
      );
    await insert(0);
    await store.fold();
    const now = newYear + 30 * day;
    const working = [1, 2, 3].map(async (worker) => {
      for (let round = 0; round < 6; round++) {
        if (worker === 1) await insert(round + 1);
        await store.fold();
        await store.sumDay(now + round * summedAgainMs);
      }
    });
    await Promise.all(working);
    for (let turn = 10; (await store.sumDay(now + turn * day)) > 0; turn++) expect(turn).toBeLessThan(100);
    expect((await store.check()).faults).toEqual([]);
    expect(await dayOf(fixture.database)).toEqual({ ready: 1, attempts: 15 * 7 });
  });

  test("a gateway sums the days of an installation without sums, newest first", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const ledgerStore = createLedgerStore(database);
    await ledgerStore.insert([0, 1, 2].map((n) => ledgerEntry(`e${n}`, { at: newYear + n * day })));
    const clock = new FakeClock(newYear + 2 * day + 5 * summedDayLagMs);
    const leadership = createSoleLeadership({ owner: "proc_1", clock, observer: silentObserver });
    const stop = keepLedger({ database, ledgerStore, clock, observer: silentObserver, leadership });
    const summed: number[] = [];
    await until(async () => {
      clock.advance(bounds.foldIdleMs);
      const ready = await database.kysely
        .selectFrom("summed_days")
        .select("day")
        .whereRef("summed", "=", "touched")
        .execute();
      for (const row of ready) if (!summed.includes(row.day)) summed.push(row.day);
      return summed.length >= 2;
    });
    await stop();
    expect(summed.slice(0, 2)).toEqual([newYear + day, newYear]);
  });
});
