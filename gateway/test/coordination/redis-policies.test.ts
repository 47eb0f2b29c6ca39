import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type BudgetPolicy, Failure, policiesOf, policyCaller, policyScope } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { RecentCost, SpendingQuery, SpendingReport } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { governedPrincipal } from "../simulation/governed-principal.ts";
import { RedisFixture } from "./redis-fixture.ts";

const month = { period: "month" } as const;
const policies: readonly BudgetPolicy[] = [
  {
    ...{ id: "bgt_teams", name: "teams", workspaceId: null, match: {}, splitBy: "tag:team" },
    budget: { nanoUsd: 500, period: "hour", rolling: true },
  },
  {
    ...{ id: "bgt_model", name: "model", workspaceId: null, match: { models: ["opus*"] }, splitBy: null },
    budget: { nanoUsd: 800, ...month },
  },
];

const caller = governedPrincipal({});
const own = policiesOf(policies, policyCaller(caller));
const principal = { ...caller, ...(own === undefined ? {} : { policies: own }) };
const money = { money: () => ({ most: 50, least: 50 }) };

describe.skipIf(noRedis !== null)("budget policies of several processes", () => {
  let fixture: RedisFixture;
  beforeEach(async () => {
    fixture = await RedisFixture.open();
  });
  afterEach(() => fixture.close());

  test.each([false, {}])(
    "two processes never exceed a policy together, and a third sees the same usage (%p)",
    async (shares) => {
      const stored: RecentCost[] = [];
      const reports = {
        spending: async (asks: readonly SpendingQuery[]): Promise<SpendingReport> => ({
          spent: asks.map((ask) => {
            const value = ask.counter?.value ?? null;
            const fits = stored.filter(({ tags }) => value === null || tags?.["team"] === value);
            const amount = fits.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
            const bucket = Math.floor(Date.now() / 60_000) * 60_000;
            return {
              amount,
              later: 0,
              ...(ask.bucketMs === undefined ? {} : { buckets: [[bucket, amount] as const] }),
            };
          }),
          recent: [...stored],
        }),
      };
      const open = async (owner: string) => {
        const settled = async () => undefined;
        const counter = await fixture.counter({ owner, clock: systemClock, settled, shares });
        const spending = { reports, settled, observer: { log: () => {} } };
        const admission = new Admission({ counter, clock: systemClock, spending, policies: () => policies });
        return { counter, admission };
      };
      const processes = [await open("proc_1"), await open("proc_2")] as const;
      let count = 0;
      const call = async ({ admission }: (typeof processes)[number], team: string): Promise<boolean> => {
        const place = { model: "opus-1", provider: "p", tags: { team } };
        const id = `req_${++count}`;
        try {
          const permit = await admission.admit(principal, { tokens: 0, call: place, ...money }, id);
          try {
            await admission.enter(permit, principal, place, money);
          } catch (thrown) {
            permit.release();
            throw thrown;
          }
          const cost = { attemptId: `att_${id}`, at: Date.now(), costNanoUsd: 50, ...place };
          const entry = { ...cost, workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
          stored.push(entry);
          admission.settled(entry);
          permit.settle(0);
          return true;
        } catch (thrown) {
          if (thrown instanceof Failure && thrown.code.startsWith("budget_")) return false;
          throw thrown;
        }
      };
      for (let round = 0; round < 6; round++) {
        const calls = Array.from({ length: 8 }, (_, index) => {
          const process = index % 2 === 0 ? processes[0] : processes[1];
          return call(process, index % 3 === 0 ? "b" : "a");
        });
        await Promise.all(calls);
        await until(() => processes.every(({ counter }) => counter.unsent === 0));
      }
      const sum = (team?: string) =>
        stored
          .filter(({ tags }) => team === undefined || tags?.["team"] === team)
          .reduce((all, { costNanoUsd }) => all + costNanoUsd, 0);
      expect(sum()).toBeLessThanOrEqual(800);
      expect(sum()).toBeGreaterThanOrEqual(700);
      for (const team of ["a", "b"]) expect(sum(team)).toBeLessThanOrEqual(500);
      const third = await open("proc_3");
      const scopes = [
        ...policies.slice(0, 1).map((policy) => policyScope({ policy, value: "a" })),
        ...policies.slice(1).map((policy) => policyScope({ policy, value: null })),
      ];
      const usages = await third.admission.limitUsages(scopes);
      expect(usages.map(({ used }) => Math.round((used ?? 0) * 1e9))).toEqual([sum("a"), sum()]);
    },
  );
});
