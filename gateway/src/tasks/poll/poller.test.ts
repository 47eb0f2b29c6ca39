import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { Poller, taskIdleMs } from "./poller.ts";

/** A poller over a store in which nothing is ever leased; it notes when it was asked. */
function startPoller() {
  const clock = new FakeClock();
  const rounds: number[] = [];
  const asked: number[] = [];
  const ground = { clock, rounds, asked, due: null as number | null };
  const nothing = { pass: async () => 0, sweep: async () => undefined, onWake: () => undefined, inFlight: 0 };
  const poller = new Poller({
    store: {
      forgetPolls: async () => undefined,
      nextDue: async () => {
        asked.push(clock.monotonic());
        return ground.due;
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
  /** Time goes on tick by tick, each round ending before the next. */
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += bounds.taskTickMs) {
      await until(() => clock.pending > 0);
      clock.advance(bounds.taskTickMs);
    }
    await until(() => clock.pending > 0);
  };
  return { ...ground, ground, poller, pass };
}

test("with nothing due the store is asked rarely when something will be, and nothing else", async () => {
  const { poller, asked, rounds, pass } = startPoller();
  await pass(12 * taskIdleMs);
  expect(asked.length).toBeLessThanOrEqual(14);
  expect(asked.length).toBeGreaterThanOrEqual(11);
  expect(rounds).toEqual([]);
  expect(poller.lateMs).toBe(0);
  await poller.stop();
});

test("what will be due is looked at when it is, to the tick", async () => {
  const { ground, clock, poller, rounds, pass } = startPoller();
  ground.due = clock.now() + 3_200;
  await pass(4_000);
  expect(rounds.filter((at) => at > 0 && at <= 3_500)).toEqual([3_500]);
  await poller.stop();
});

test("after something was done here the next round is a tick away at most", async () => {
  const { ground, clock, poller, rounds, pass } = startPoller();
  await pass(bounds.taskTickMs);
  ground.due = clock.now();
  poller.wake();
  await pass(bounds.taskTickMs);
  expect(rounds).toEqual([2 * bounds.taskTickMs]);
  await poller.stop();
});
