import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import { bounds } from "#core/index.ts";
import type { Counter } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";
import { nothingWanted } from "./limit-rule.ts";

const principal = governedPrincipal({ key: { limits: { concurrency: 1 } } });

/** An admission over a counter that answers later, as a shared one does, and whose first settlements are lost on the way. */
function ground(lost: number) {
  const clock = new FakeClock();
  const memory = createMemoryCounter({ clock });
  let told = 0;
  const counter: Counter = {
    reserve: async (claims) => memory.reserve(claims),
    topUp: (ticket, amount, least) => memory.topUp(ticket, amount, least),
    settle: async (ticket, actual) => {
      if (++told <= lost) throw new Error("The connection is gone.");
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
  return { clock, admission: new Admission({ counter, clock }), turns, told: () => told };
}

test("a settlement that a shared counter did not take is told again until it is taken, and frees the place then", async () => {
  const { clock, admission, turns, told } = ground(3);
  const permit = await admission.admit(principal, nothingWanted);
  expect(permit.settle(0)).toBe(true);
  await turns();
  expect([told(), admission.outstanding]).toEqual([1, 1]);
  for (let wait = 0; wait < 3; wait++) {
    clock.advance(bounds.settleRetryMs * 2 ** wait);
    await turns();
  }
  expect([told(), admission.outstanding, admission.unsettled, clock.pending]).toEqual([4, 0, 0, 0]);
  (await admission.admit(principal, nothingWanted)).release();
});

test("a settlement that is never taken is counted once, and nobody tries it for ever", async () => {
  const { clock, admission, turns, told } = ground(Number.POSITIVE_INFINITY);
  const permit = await admission.admit(principal, nothingWanted);
  permit.settle(0);
  for (let wait = 0; wait <= bounds.settleRetriesMax; wait++) {
    await turns();
    clock.advance(bounds.settleRetryMs * 2 ** wait);
  }
  await turns();
  expect([told(), admission.unsettled, clock.pending]).toEqual([1 + bounds.settleRetriesMax, 1, 0]);
});
