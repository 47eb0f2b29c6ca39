import { expect, test } from "bun:test";
import { until, untilStable } from "../../../../test/until.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { databaseClockMs, openDatabaseClock } from "./database-clock.ts";
import { openDatabase } from "./open-database.ts";

const dayMs = 24 * 3_600_000;

test("replicas with different clocks agree on the database's time, even if one clock is set", async () => {
  const database = openDatabase({ path: ":memory:" });
  const clocks = [new FakeClock(0), new FakeClock(Date.UTC(2040, 0, 1))];
  const [one, other] = await Promise.all(clocks.map((clock) => openDatabaseClock(database, clock)));
  if (one === undefined || other === undefined) throw new Error("two clocks must be opened");
  const machineMs = Date.now();
  expect(Math.abs(one.now() - machineMs)).toBeLessThan(dayMs);
  expect(Math.abs(one.now() - other.now())).toBeLessThan(dayMs);
  expect(other.aheadMs).toBeGreaterThan(dayMs);
  const before = one.now();
  clocks[0]?.jump(100 * dayMs);
  expect(one.now()).toBe(before);
  clocks[0]?.advance(1_000);
  expect(one.now()).toBe(before + 1_000);
  one.stop();
  other.stop();
  expect(clocks.map(({ pending }) => pending)).toEqual([0, 0]);
  await database.close();
});

test("reads the time periodically, and continues while the database is unavailable", async () => {
  const database = openDatabase({ path: ":memory:" });
  const clock = new FakeClock();
  const databaseClock = await openDatabaseClock(database, clock);
  // Ahead of the database by the time that passed only here, until the next reading.
  clock.advance(databaseClockMs - 1);
  const ahead = databaseClock.now();
  clock.advance(1);
  await until(() => clock.pending === 1);
  expect(databaseClock.now()).toBeLessThan(ahead);
  await database.close();
  const before = databaseClock.now();
  clock.advance(databaseClockMs);
  await untilStable(() => clock.pending);
  expect(databaseClock.now()).toBe(before + databaseClockMs);
  expect(clock.pending).toBe(1);
  databaseClock.stop();
});
