import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import type { Counter } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";
import { nothingWanted } from "./limit-rule.ts";

const principal = governedPrincipal({ key: { limits: { concurrency: 1 } } });

/** An admission over an asynchronous counter, as a shared one is, that loses the first settlements. */
function fixture(lost: number) {
  const clock = new FakeClock();
  const memory = createMemoryCounter({ clock });
  let settlements = 0;
  const counter: Counter = {
    reserve: async (claims) => memory.reserve(claims),
    topUp: (ticket, amount, least) => memory.topUp(ticket, amount, least),
    settle: async (ticket, actual) => {
      if (++settlements <= lost) throw new Error("The connection is gone.");
      memory.settle(ticket, actual);
    },
    beginPeriod: (key, periodStart, anew) => memory.beginPeriod(key, periodStart, anew),
    setSpending: (key, periodStart, spent) => memory.setSpending(key, periodStart, spent),
    spend: (key, periodStart, cost) => memory.spend(key, periodStart, cost),
    invalidateSpending: (periods) => memory.invalidateSpending(periods),
    seed: (key, amount, at, windowMs) => memory.seed(key, amount, at, windowMs),
    peek: async (claim) => memory.peek(claim),
    get outstanding() {
      return memory.outstanding;
    },
  };
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { clock, admission: new Admission({ counter, clock }), turns, settlements: () => settlements };
}

test("retries a settlement until the shared counter accepts it, which frees the place", async () => {
  const { clock, admission, turns, settlements } = fixture(3);
  const permit = await admission.admit(principal, nothingWanted);
  expect(permit.settle(0)).toBe(true);
  await turns();
  expect([settlements(), admission.outstanding]).toEqual([1, 1]);
  for (let wait = 0; wait < 3; wait++) {
    clock.advance(bounds.settleRetryMs * 2 ** wait);
    await turns();
  }
  expect([settlements(), admission.outstanding, admission.unsettled, clock.pending]).toEqual([4, 0, 0, 0]);
  (await admission.admit(principal, nothingWanted)).release();
});

test("counts a settlement that is never accepted, and stops retrying", async () => {
  const { clock, admission, turns, settlements } = fixture(Number.POSITIVE_INFINITY);
  const permit = await admission.admit(principal, nothingWanted);
  permit.settle(0);
  for (let wait = 0; wait <= bounds.settleRetriesMax; wait++) {
    await turns();
    clock.advance(bounds.settleRetryMs * 2 ** wait);
  }
  await turns();
  expect([settlements(), admission.unsettled, clock.pending]).toEqual([1 + bounds.settleRetriesMax, 1, 0]);
});
