import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { Poller, taskIdleMs } from "./poller.ts";

/** A poller over a store in which nothing is ever leased; it records the reads of the due time. */
function startPoller() {
  const clock = new FakeClock();
  const rounds: number[] = [];
  const reads: number[] = [];
  const fixture = { clock, rounds, reads, due: null as number | null };
  const nothing = { pass: async () => 0, sweep: async () => undefined, onWake: () => undefined, inFlight: 0 };
  const poller = new Poller({
    store: {
      deletePolls: async () => undefined,
      nextDue: async () => {
        reads.push(clock.monotonic());
        return fixture.due;
      },
      lease: async () => {
        rounds.push(clock.monotonic());
        return [];
      },
    },
    ...{ clock, deliveries: nothing, holds: nothing, materials: nothing },
    observer: { log: () => undefined },
  } as never);
  poller.start();
  /** Advances the clock tick by tick, each round ending before the next. */
  const pass = async (ms: number): Promise<void> => {
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += bounds.taskTickMs) {
      await until(() => clock.pending > 0);
      clock.advance(bounds.taskTickMs);
    }
    await until(() => clock.pending > 0);
  };
  return { ...fixture, fixture, poller, pass };
}

test("only reads the next due time, rarely, while nothing is due", async () => {
  const { poller, reads, rounds, pass } = startPoller();
  await pass(12 * taskIdleMs);
  expect(reads.length).toBeLessThanOrEqual(14);
  expect(reads.length).toBeGreaterThanOrEqual(11);
  expect(rounds).toEqual([]);
  expect(poller.lateMs).toBe(0);
  await poller.stop();
});

test("leases a task in the tick in which it becomes due", async () => {
  const { fixture, clock, poller, rounds, pass } = startPoller();
  fixture.due = clock.now() + 3_200;
  await pass(4_000);
  expect(rounds.filter((at) => at > 0 && at <= 3_500)).toEqual([3_500]);
  await poller.stop();
});

test("starts the next round within one tick of a change", async () => {
  const { fixture, clock, poller, rounds, pass } = startPoller();
  await pass(bounds.taskTickMs);
  fixture.due = clock.now();
  poller.wake();
  await pass(bounds.taskTickMs);
  expect(rounds).toEqual([2 * bounds.taskTickMs]);
  await poller.stop();
});
