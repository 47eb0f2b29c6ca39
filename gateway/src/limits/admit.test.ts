import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMemoryCounter } from "#coordination/index.ts";
import { Failure, type Principal, usdToNano } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";
import type { Estimate } from "./limit-rule.ts";
import type { Permit } from "./permit.ts";

/** The estimated or actual usage of a call. */
interface Use {
  readonly tokens: number;
  readonly nanoUsd: number;
}

const nothing: Use = { tokens: 0, nanoUsd: 0 };

const estimateOf = ({ tokens, nanoUsd }: Use): Estimate => ({
  tokens,
  money: () => ({ most: nanoUsd, least: nanoUsd }),
});

function gateway(): { clock: FakeClock; admission: Admission } {
  const clock = new FakeClock(Date.UTC(2026, 0, 31, 23, 0, 0));
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
  clocks.set(admission, clock);
  return { clock, admission };
}

const clocks = new WeakMap<Admission, FakeClock>();
const clockOf = (admission: Admission): FakeClock => clocks.get(admission) ?? new FakeClock();

async function admit(admission: Admission, principal: Principal, estimate: Use = nothing): Promise<Permit> {
  return admission.admit(principal, estimateOf(estimate));
}

let attempts = 0;

/** Ends a call: settles its entry, then its permit. */
function finish(admission: Admission, permit: Permit, { tokens, nanoUsd }: Use): boolean {
  const attemptId = `att_${++attempts}`;
  const scopes = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
  admission.settled({ attemptId, at: clockOf(admission).now(), ...scopes, costNanoUsd: nanoUsd });
  return permit.settle(tokens);
}

async function refusal(admission: Admission, principal: Principal, estimate: Use = nothing): Promise<Failure> {
  try {
    await admit(admission, principal, estimate);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error("the call was admitted");
}

test("the tightest of the four scopes decides", async () => {
  for (const tight of ["workspace", "group", "person", "key"] as const) {
    const { admission } = gateway();
    const loose = { limits: { rpm: 9 } };
    const principal = governedPrincipal({
      workspace: loose,
      group: loose,
      person: loose,
      key: loose,
      [tight]: { limits: { rpm: 2 } },
    });
    await admit(admission, principal);
    await admit(admission, principal);
    expect((await refusal(admission, principal)).details?.scope).toStartWith(`rpm of ${tight} `);
  }
});

test("rpm N admits exactly N calls a minute, and the refusal has the time to retry", async () => {
  const { clock, admission } = gateway();
  const principal = governedPrincipal({ key: { limits: { rpm: 3 } } });
  for (let call = 0; call < 3; call++) finish(admission, await admit(admission, principal), nothing);
  const failure = await refusal(admission, principal);
  expect(failure.code).toBe("rate_limit_exceeded");
  expect(failure.retryAfterMs).toBe(60_000);
  expect(failure.details).toEqual({
    limit: 3,
    used: 3,
    scope: "rpm of key acme/ci",
    resets_at: clock.now() / 1_000 + 60,
  });
  expect(failure.message).toContain("3 requests per minute on key acme/ci");
  // The counter's own granularity is a sixtieth of the window.
  clock.advance(60_000);
  expect((await refusal(admission, principal)).retryAfterMs).toBe(1_000);
  clock.advance(1_000);
  await admit(admission, principal);
});

test("a call above the tokens of a minute is admitted alone and fills the minute", async () => {
  const { admission } = gateway();
  const principal = governedPrincipal({ key: { limits: { tpm: 1_000 } } });
  const permit = await admit(admission, principal, { tokens: 50_000, nanoUsd: 0 });
  expect((await refusal(admission, principal)).details?.scope).toBe("tpm of key acme/ci");
  finish(admission, permit, { tokens: 400, nanoUsd: 0 });
  await admit(admission, principal, { tokens: 600, nanoUsd: 0 });
  expect((await refusal(admission, principal, { tokens: 0, nanoUsd: 0 })).code).toBe("rate_limit_exceeded");
});

test("tokens per minute hold for calls that use far more than forecast, however long they last", async () => {
  for (const lastingMs of [30_000, 62_000]) {
    const { clock, admission } = gateway();
    const principal = governedPrincipal({ key: { limits: { tpm: 10_000 } } });
    const running: { readonly permit: Permit; readonly endsAt: number }[] = [];
    const used: { readonly at: number; readonly tokens: number }[] = [];
    let refused = 0;
    for (let second = 0; second < 600; second += 4) {
      while (running[0] !== undefined && running[0].endsAt <= clock.now()) {
        finish(admission, (running.shift() as { permit: Permit }).permit, { tokens: 50_000, nanoUsd: 0 });
        used.push({ at: clock.now(), tokens: 50_000 });
      }
      try {
        running.push({
          permit: await admit(admission, principal, { tokens: 500, nanoUsd: 0 }),
          endsAt: clock.now() + lastingMs,
        });
      } catch {
        refused++;
      }
      clock.advance(4_000);
    }
    // Calls admitted before the first one ended have used too much already; after that the window stays full.
    const early = Math.ceil(lastingMs / 4_000) + 1;
    expect(refused).toBeGreaterThan(80);
    expect(used.length).toBeLessThanOrEqual(early * 5);
  }
});

test("a call counts as concurrent until it is settled or released", async () => {
  const { clock, admission } = gateway();
  const principal = governedPrincipal({ group: { limits: { concurrency: 2 } } });
  const first = await admit(admission, principal);
  const second = await admit(admission, principal);
  clock.advance(600_000);
  const failure = await refusal(admission, principal);
  expect(failure).toMatchObject({ code: "rate_limit_exceeded", retryAfterMs: 1_000 });
  expect(failure.details).toMatchObject({ limit: 2, used: 2, scope: "concurrency of group acme/default" });
  finish(admission, first, nothing);
  (await admit(admission, principal)).release();
  second.release();
  expect(admission.outstanding).toBe(0);
});

test("a budget is reserved before the call and refuses what may not fit into the rest of it", async () => {
  const { admission } = gateway();
  const principal = governedPrincipal({ workspace: { budget: { nanoUsd: usdToNano(5), period: "month" } } });
  const permit = await admit(admission, principal, { tokens: 0, nanoUsd: usdToNano(4) });
  const held = await refusal(admission, principal, { tokens: 0, nanoUsd: usdToNano(1.5) });
  expect([held.code, held.status, held.retryAfterMs]).toEqual(["budget_held", 429, 5_000]);
  expect(held.details).toEqual({
    limit: 5,
    used: 4,
    held: 4,
    scope: "workspace acme, per month",
    period: "month",
    resets_at: Date.UTC(2026, 0, 31, 23, 0, 5) / 1_000,
  });
  expect(held.message).toBe(
    "The budget of 5 USD per month on workspace acme has 5 USD left, of which 4 USD is held for calls in flight; try again in 5 s.",
  );
  finish(admission, permit, { tokens: 0, nanoUsd: usdToNano(0.25) });
  const spent = await refusal(admission, principal, { tokens: 0, nanoUsd: usdToNano(4.8) });
  expect([spent.code, spent.status, spent.details?.held]).toEqual(["budget_exceeded", 402, 0]);
  expect(spent.message).toBe(
    "The budget of 5 USD per month on workspace acme has 4.75 USD left and this call may cost 4.8 USD, which is held until it ends; ask for less output, raise it or wait until 2026-02-01T00:00:00.000Z.",
  );
  const rest: Use = { tokens: 0, nanoUsd: usdToNano(4.75) };
  finish(admission, await admit(admission, principal, rest), rest);
  expect((await refusal(admission, principal)).message).toContain("is used up");
});

test("a budget in total never resets; a monthly one is new on the first of the month", async () => {
  const { clock, admission } = gateway();
  const monthly = governedPrincipal({ key: { budget: { nanoUsd: 10, period: "month" } } });
  const total = governedPrincipal({ group: { budget: { nanoUsd: 10, period: "total" } } });
  const all: Use = { tokens: 0, nanoUsd: 10 };
  finish(admission, await admit(admission, monthly, all), all);
  finish(admission, await admit(admission, total, all), all);
  await refusal(admission, monthly);
  clock.advance(3_600_000);
  await admit(admission, monthly, all);
  const failure = await refusal(admission, total);
  expect(failure.details).toMatchObject({ scope: "group acme/default, in total", resets_at: null });
  expect(failure.message).toEndWith("is used up; raise it.");
});

test("a released permit gives back its request, tokens, place and money", async () => {
  const { admission } = gateway();
  const principal = governedPrincipal({
    key: { limits: { rpm: 1, tpm: 10, concurrency: 1 }, budget: { nanoUsd: 10, period: "day" } },
  });
  for (let round = 0; round < 3; round++) (await admit(admission, principal, { tokens: 10, nanoUsd: 10 })).release();
  expect((await admission.limitUsages(principal.scopes)).map(({ used }) => used)).toEqual([0, 0, 0, 0]);
});

test("a permit ends once: the first ending counts, the second is ignored and counted", async () => {
  const { admission } = gateway();
  const principal = governedPrincipal({ key: { budget: { nanoUsd: 100, period: "day" } } });
  const permit = await admit(admission, principal, { tokens: 0, nanoUsd: 60 });
  expect(finish(admission, permit, { tokens: 0, nanoUsd: 50 })).toBe(true);
  expect(permit.release()).toBe(false);
  expect(permit.settle(0)).toBe(false);
  expect(admission.repeatedEndings).toBe(2);
  expect((await refusal(admission, principal, { tokens: 0, nanoUsd: 51 })).details?.used).toBe(50 / 1e9);
});

test("a caller without limits is always admitted, and its permit too ends once", async () => {
  const { admission } = gateway();
  const permit = await admit(admission, governedPrincipal({}), { tokens: 1e9, nanoUsd: 1e12 });
  expect([permit.tightestRate("rpm"), permit.tightestRate("tpm")]).toEqual([null, null]);
  expect([finish(admission, permit, nothing), permit.release()]).toEqual([true, false]);
  expect(admission.repeatedEndings).toBe(1);
});

test("rate headers show the scope with the least left", async () => {
  const { admission } = gateway();
  const principal = governedPrincipal({
    workspace: { limits: { rpm: 100, tpm: 500 } },
    key: { limits: { rpm: 5, tpm: 900 } },
  });
  const permit = await admit(admission, principal, { tokens: 100, nanoUsd: 0 });
  expect(permit.tightestRate("rpm")).toMatchObject({ limit: 5, used: 1, freeInMs: 61_000 });
  expect(permit.tightestRate("tpm")).toMatchObject({ limit: 500, used: 100, freeInMs: 61_000 });
});

test("limit usages show every limit of the scopes without using any", async () => {
  const { clock, admission } = gateway();
  const principal = governedPrincipal({
    workspace: { budget: { nanoUsd: usdToNano(2), period: "month" } },
    key: { limits: { rpm: 5, concurrency: 3 } },
  });
  await admit(admission, principal, { tokens: 0, nanoUsd: usdToNano(0.5) });
  const rows = await admission.limitUsages(principal.scopes);
  expect(await admission.limitUsages(principal.scopes)).toEqual(rows);
  expect(rows.map(({ name, label, used, limit, resetsAt }) => [name, label, used, limit, resetsAt])).toEqual([
    ["budget", "workspace acme", 0.5, 2, Date.UTC(2026, 1, 1) / 1_000],
    ["rpm", "key acme/ci", 1, 5, clock.now() / 1_000 + 61],
    ["concurrency", "key acme/ci", 1, 3, null],
  ]);
});

test("a changed limit applies to the next call and keeps its counts", async () => {
  const { admission } = gateway();
  for (let call = 0; call < 2; call++)
    (await admit(admission, governedPrincipal({ key: { limits: { rpm: 2 } } }))).settle(0);
  await admit(admission, governedPrincipal({ key: { limits: { rpm: 3 } } }));
  expect((await refusal(admission, governedPrincipal({ key: { limits: { rpm: 3 } } }))).details?.used).toBe(3);
});

test("in any order of calls no limit is exceeded, and the budget is the sum of the spending", async () => {
  const step = fc.record({
    estimate: fc.integer({ min: 0, max: 300 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    end: fc.constantFrom("none", "settle", "release"),
    which: fc.nat(1_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { admission } = gateway();
      const principal = governedPrincipal({
        workspace: { budget: { nanoUsd: 1_000, period: "day" } },
        group: { limits: { rpm: 20 } },
        key: { limits: { concurrency: 4 } },
      });
      const open: { readonly permit: Permit; readonly spent: Use }[] = [];
      let spent = 0;
      let settled = 0;
      for (const { estimate, share, end, which } of steps) {
        try {
          const permit = await admit(admission, principal, { tokens: 0, nanoUsd: estimate });
          open.push({ permit, spent: { tokens: 0, nanoUsd: Math.floor(estimate * share) } });
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Failure);
        }
        expect(open.length).toBeLessThanOrEqual(4);
        const [ending] = end === "none" ? [] : open.splice(which % Math.max(1, open.length), 1);
        if (ending === undefined) continue;
        if (end === "release") ending.permit.release();
        else {
          finish(admission, ending.permit, ending.spent);
          spent += ending.spent.nanoUsd;
          settled++;
        }
        expect(spent).toBeLessThanOrEqual(1_000);
        expect(settled).toBeLessThanOrEqual(20);
      }
      for (const { permit } of open) permit.release();
      expect(admission.outstanding).toBe(0);
      if (spent < 1_000 && settled < 20) {
        const rest = await admit(admission, principal, { tokens: 0, nanoUsd: 1_000 - spent });
        rest.release();
        expect((await refusal(admission, principal, { tokens: 0, nanoUsd: 1_001 - spent })).code).toBe(
          "budget_exceeded",
        );
      }
    }),
    { numRuns: 100, seed: 4 },
  );
});

describe("money held for a task", () => {
  const budget = { nanoUsd: 100, period: "total" } as const;

  test("counts against the budget only, until it is settled or released", async () => {
    const { admission } = gateway();
    const principal = governedPrincipal({ key: { budget, limits: { rpm: 1, concurrency: 1 } } });
    const first = await admission.hold(principal, 60, false);
    const second = await admission.hold(principal, 40, false);
    await expect(admission.hold(principal, 1, false)).rejects.toThrow("budget");
    finish(admission, first, { tokens: 0, nanoUsd: 10 });
    second.release();
    const third = await admission.hold(principal, 90, false);
    await expect(admission.hold(principal, 1, false)).rejects.toThrow("budget");
    third.release();
    expect(admission.outstanding).toBe(0);
  });

  test("is granted again after a restart, and refuses other holds", async () => {
    const { admission } = gateway();
    const principal = governedPrincipal({ key: { budget } });
    await admission.hold(principal, 150, true);
    await expect(admission.hold(principal, 1, false)).rejects.toThrow("budget");
  });
});
