import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import { type Principal, usdToNano } from "#core/index.ts";
import type { Counter } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";
import type { Permit } from "./permit.ts";

const cent = usdToNano(0.01);
const month = { nanoUsd: usdToNano(0.025), period: "month", enforce: false } as const;

function gateway(wrap: (counter: Counter) => Counter = (counter) => counter) {
  const clock = new FakeClock(Date.UTC(2026, 0, 15));
  const refusals: string[] = [];
  const admission = new Admission({
    counter: wrap(createMemoryCounter({ clock })),
    clock,
    onShadowRefusal: ({ name, scope }) => refusals.push(`${name} ${scope.kind}`),
  });
  const call = async (principal: Principal): Promise<Permit> =>
    await admission.admit(principal, { tokens: 10, money: () => ({ most: cent, least: cent }) });
  return { clock, admission, refusals, call };
}

test("a rate in shadow mode marks the calls that it would refuse, and counts only the others", async () => {
  const { clock, admission, refusals, call } = gateway();
  const principal = governedPrincipal({ key: { limits: { rpm: 2, enforce: false } } });
  const marks: (string | null)[] = [];
  for (let n = 0; n < 4; n++) {
    const permit = await call(principal);
    marks.push(permit.shadowRefusal?.text ?? null);
    expect(permit.settle(10)).toBe(true);
  }
  const text = "limit of 2 requests per minute on key acme/ci";
  expect(marks).toEqual([null, null, text, text]);
  expect(refusals).toEqual(["rpm key", "rpm key"]);
  expect(await admission.limitUsages(principal.scopes)).toMatchObject([{ isShadow: true, limit: 2, used: 2 }]);
  expect((await admission.rates(principal)).tightestRate("rpm")).toBeNull();
  expect(() => admission.check(principal)).not.toThrow();
  clock.advance(61_000);
  expect((await call(principal)).shadowRefusal).toBeNull();
});

test("a budget in shadow mode marks calls once it is used up, and holds no money of the caller", async () => {
  const { clock, admission, call } = gateway();
  const principal = governedPrincipal({ key: { budget: month } });
  const marks: boolean[] = [];
  for (let n = 0; n < 4; n++) {
    const permit = await call(principal);
    expect(permit.held).toBe(Number.POSITIVE_INFINITY);
    expect(permit.tightestBudget(clock.now())).toBeNull();
    // The spending of the first call's budget is read while the call runs.
    await admission.limitUsages(principal.scopes);
    marks.push(permit.shadowRefusal !== null);
    const owner = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
    admission.settled({ attemptId: `att_${n}`, at: clock.now(), ...owner, costNanoUsd: cent });
    permit.settle(10);
  }
  expect(marks).toEqual([false, false, true, true]);
  const [usage] = await admission.limitUsages(principal.scopes);
  expect(usage).toMatchObject({ isShadow: true, used: 0.04, held: 0 });
  expect(usage?.refusedAt).toBe(clock.now());
  expect(admission.outstanding).toBe(0);
});

test("shadow limits do not change limits that refuse calls", async () => {
  const { refusals, admission, call } = gateway();
  const principal = governedPrincipal({
    workspace: { limits: { concurrency: 1, enforce: false } },
    key: { limits: { rpm: 3 } },
  });
  const permits = [await call(principal), await call(principal), await call(principal)];
  expect(permits.map(({ shadowRefusal }) => shadowRefusal?.name ?? null)).toEqual([null, "concurrency", "concurrency"]);
  expect(call(principal)).rejects.toMatchObject({ code: "rate_limit_exceeded" });
  expect(refusals).toHaveLength(2);
  for (const permit of permits) permit.release();
  expect((await call(principal)).shadowRefusal).toBeNull();
  expect(admission.repeatedEndings).toBe(0);
});

test("a call waits for no answer about shadow limits, and passes if there is none", async () => {
  const answers: PromiseWithResolvers<void>[] = [];
  const { admission, call } = gateway((counter) => ({
    ...slow(counter),
    async reserve(claims, id, isCall) {
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      await answer.promise;
      return await counter.reserve(claims, id, isCall);
    },
  }));
  const principal = governedPrincipal({ key: { limits: { rpm: 1, fail: "closed", enforce: false } } });
  const [first, second] = [await call(principal), await call(principal)];
  answers[0]?.resolve();
  answers[1]?.reject(new Error("The counter is away."));
  first?.settle(10);
  second?.settle(10);
  await Promise.allSettled(answers.map(({ promise }) => promise));
  const third = await call(principal);
  answers[2]?.resolve();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  expect([first?.shadowRefusal, second?.shadowRefusal, third.shadowRefusal?.name]).toEqual([null, null, "rpm"]);
  third.settle(10);
  expect(admission.outstanding).toBe(0);
});

/** The counter's methods, for a counter that answers later. */
function slow(counter: Counter): Counter {
  return {
    reserve: (...input) => counter.reserve(...input),
    topUp: (...input) => counter.topUp(...input),
    settle: (...input) => counter.settle(...input),
    beginPeriod: (...input) => counter.beginPeriod(...input),
    setSpending: (...input) => counter.setSpending(...input),
    spend: (...input) => counter.spend(...input),
    seed: (...input) => counter.seed(...input),
    peek: (claim) => counter.peek(claim),
    invalidateSpending: (periods) => counter.invalidateSpending(periods),
    get outstanding() {
      return counter.outstanding;
    },
  };
}
