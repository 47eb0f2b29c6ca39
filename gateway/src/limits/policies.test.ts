import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMemoryCounter } from "#coordination/index.ts";
import { type BudgetPolicy, Failure, type PolicyCost, policiesOf, policyCaller, policyScope } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";

const budget = { nanoUsd: 1_000, period: "day" } as const;
const policy = (name: string, more: Partial<BudgetPolicy> = {}): BudgetPolicy => ({
  ...{ id: `bgt_${name}`, name, workspaceId: null, budget, match: {}, splitBy: null },
  ...more,
});

function fixture(policies: readonly BudgetPolicy[]) {
  const clock = new FakeClock(Date.UTC(2026, 4, 10, 12));
  const counter = createMemoryCounter({ clock });
  const admission = new Admission({ counter, clock, policies: () => policies });
  const caller = governedPrincipal({});
  const own = policiesOf(policies, policyCaller(caller));
  const principal = { ...caller, ...(own === undefined ? {} : { policies: own }) };
  let count = 0;
  const cost = (costNanoUsd: number, place: Pick<PolicyCost, "model" | "provider" | "tags">) => ({
    ...{ attemptId: `att_${++count}`, at: clock.now(), costNanoUsd, ...place },
    ...{ workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" },
  });
  return { clock, counter, admission, principal, cost };
}

const money = (nanoUsd: number) => ({ money: () => ({ most: nanoUsd, least: nanoUsd }) });

test("the charged sum never exceeds a policy, for calls of any model, provider and tag", async () => {
  const policies = [
    policy("all", { budget: { ...budget, nanoUsd: 3_000 } }),
    policy("tags", { splitBy: "tag:team" }),
    policy("model", { match: { models: ["opus*"] } }),
    policy("vendors", { match: { models: ["*"] }, splitBy: "provider" }),
    policy("both", { match: { providers: ["one"], tags: { team: ["a"] } }, budget: { ...budget, nanoUsd: 500 } }),
    policy("rolling", { budget: { nanoUsd: 900, period: "hour", rolling: true }, splitBy: "model" }),
  ];
  const anyCall = fc.record({
    model: fc.constantFrom("opus-1", "opus-2", "small"),
    provider: fc.constantFrom("one", "two"),
    team: fc.constantFrom("a", "b", ""),
    most: fc.integer({ min: 1, max: 400 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    moves: fc.boolean(),
    endsLater: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyCall, { minLength: 10, maxLength: 60 }), async (calls) => {
      const { admission, principal, cost, counter, clock } = fixture(policies);
      const running: (() => void)[] = [];
      const charged: ReturnType<typeof cost>[] = [];
      let refused = 0;
      for (const { model, provider, team, most, share, moves, endsLater } of calls) {
        clock.advance(60_000);
        const tags: Record<string, string> = team === "" ? {} : { team };
        const place = { model, provider, tags };
        try {
          const permit = await admission.admit(principal, { tokens: 0, call: place, ...money(most) });
          try {
            await admission.enter(permit, principal, place, money(most));
            const next = moves ? { ...place, model: "small", provider: provider === "one" ? "two" : "one" } : place;
            if (moves) await admission.enter(permit, principal, next, money(most));
            const end = () => {
              const paid = cost(Math.floor(most * share), next);
              charged.push(paid);
              admission.settled(paid);
              permit.settle(0);
            };
            if (endsLater) running.push(end);
            else end();
          } catch (thrown) {
            permit.release();
            throw thrown;
          }
        } catch (thrown) {
          if (!(thrown instanceof Failure && thrown.code.startsWith("budget_"))) throw thrown;
          refused++;
        }
        if (running.length > 3) running.shift()?.();
      }
      for (const end of running) end();
      expect(counter.outstanding).toBe(0);
      const sumOf = (fits: (paid: (typeof charged)[number]) => boolean) =>
        charged.filter(fits).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
      expect(sumOf(() => true)).toBeLessThanOrEqual(3_000);
      for (const team of ["a", "b", undefined]) {
        expect(sumOf(({ tags }) => tags["team"] === team)).toBeLessThanOrEqual(1_000);
      }
      expect(sumOf(({ model }) => model.startsWith("opus"))).toBeLessThanOrEqual(1_000);
      for (const one of ["one", "two"]) expect(sumOf(({ provider }) => provider === one)).toBeLessThanOrEqual(1_000);
      expect(sumOf(({ provider, tags }) => provider === "one" && tags["team"] === "a")).toBeLessThanOrEqual(500);
      const usages = await admission.limitUsages(
        policies.slice(0, 1).map((each) => policyScope({ policy: each, value: null })),
      );
      expect(Math.round((usages[0]?.used ?? 0) * 1e9)).toBe(sumOf(() => true));
      expect(refused + charged.length).toBe(calls.length);
    }),
    { numRuns: 60 },
  );
});

test("another match counts anew, and another amount does not", async () => {
  const changed = [policy("p", { match: { workspaces: ["ws_1"] } })];
  const { admission, principal, cost } = fixture(changed);
  const permit = await admission.admit(principal, { tokens: 0, ...money(100) });
  admission.settled(cost(100, { model: "m", provider: "p", tags: {} }));
  permit.settle(0);
  const usedOf = async (of: BudgetPolicy) =>
    Math.round(((await admission.limitUsages([policyScope({ policy: of, value: null })]))[0]?.used ?? 0) * 1e9);
  expect(await usedOf({ ...(changed[0] as BudgetPolicy), budget: { ...budget, nanoUsd: 9_000 } })).toBe(100);
  expect(await usedOf(policy("p", { match: { workspaces: ["ws_1"], groups: ["grp_1"] } }))).toBe(0);
});

test("values of a tag beyond the bound of a workspace share one counter", async () => {
  const { admission, principal, cost } = fixture([policy("tags", { splitBy: "tag:team" })]);
  const call = async (team: string, nanoUsd: number) => {
    const place = { model: "m", provider: "p", tags: { team } };
    const permit = await admission.admit(principal, { tokens: 0, call: place, ...money(nanoUsd) });
    admission.settled(cost(nanoUsd, place));
    permit.settle(0);
  };
  for (let n = 0; n < 100; n++) await call(`team-${n}`, 1_000);
  await call("team-100", 400);
  await call("team-101", 400);
  await expect(call("team-102", 400)).rejects.toThrow("policy tags (tag:team (other))");
  await expect(call("team-5", 1)).rejects.toThrow("policy tags (tag:team team-5)");
});

test("a cost counts for its value of a tag in a shared counter that another process has loaded", async () => {
  const { admission, principal, cost, counter, clock } = fixture([tagged]);
  const other = new Admission({ counter, clock, policies: () => [tagged] });
  const of = (team: string) => ({ model: "m", provider: "p", tags: { team } });
  const usedBy = async (value: string) => {
    const [usage] = await admission.limitUsages([policyScope({ policy: tagged, value })]);
    return Math.round((usage?.used ?? 0) * 1e9);
  };
  (await admission.admit(principal, { tokens: 0, call: of("search"), ...money(1) })).release();
  await usedBy("(other)");
  other.settled(cost(300, of("search")));
  other.settled(cost(20, of("never-admitted")));
  await Promise.resolve();
  expect([await usedBy("search"), await usedBy("(other)")]).toEqual([300, 20]);
});

test("a task with a provider holds its money on the policies of the provider", async () => {
  const vendor = policy("vendor", { match: { providers: ["one"] } });
  const { admission, principal } = fixture([vendor]);
  const place = { model: "m", tags: {}, provider: "one" };
  const hold = await admission.hold(principal, 800, true, "task_1", place);
  const permit = await admission.admit(principal, { tokens: 0, call: place, ...money(400) });
  expect(async () => await admission.enter(permit, principal, place, money(400))).toThrow("policy vendor");
  hold.release();
  await admission.enter(permit, principal, place, money(400));
  permit.settle(0);
  const elsewhere = await admission.hold(principal, 800, true, "task_2", { ...place, provider: "two" });
  expect(elsewhere.held).toBe(Number.POSITIVE_INFINITY);
});

const tagged = policy("tags", { splitBy: "tag:team" });

test("a caller without policies allocates nothing for them", () => {
  const { admission, principal } = fixture([policy("others", { match: { keys: ["key_other"] } })]);
  expect(principal).not.toHaveProperty("policies");
  const permit = admission.admit(principal, { tokens: 0, ...money(1) });
  if (permit instanceof Promise) throw new Error("it waits");
  expect(admission.enter(permit, principal, { model: "m", provider: "p", tags: {} }, money(1))).toBeUndefined();
  permit.settle(0);
});
