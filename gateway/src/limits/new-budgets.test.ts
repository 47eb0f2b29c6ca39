import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import { type LimitScope, usdToNano } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { createAdmission, NewBudgets } from "./index.ts";

const scope = (usd: number | null): LimitScope => ({
  kind: "group",
  id: "grp_1",
  label: "group acme/default",
  limits: {},
  budget: usd === null ? null : { nanoUsd: usdToNano(usd), period: "day" },
});

test("a budget that is set while the gateway runs begins with what was spent in its period, once", async () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock });
  const admission = createAdmission({ counter, clock });
  const day = clock.now() - (clock.now() % 86_400_000);
  const asked: number[] = [];
  const reports = {
    dailySpend: async (_workspaceId: string | null, since: number) => {
      asked.push(since);
      const row = { workspaceId: "ws_1", keyId: "key_1", day, usd: 3 };
      return [
        { ...row, groupId: "grp_1" },
        { ...row, groupId: "grp_1", keyId: "key_2", usd: 4 },
        { ...row, groupId: "grp_2", usd: 100 },
      ];
    },
  };
  const budgets = new NewBudgets({ counter, reports, clock }, [scope(null)]);
  await budgets.see([scope(null)], () => "ws_1");
  expect(asked).toEqual([]);
  await budgets.see([scope(10)], () => "ws_1");
  await budgets.see([scope(12)], () => "ws_1");
  expect(asked).toEqual([day]);
  expect((await admission.standings([scope(12)]))[0]).toMatchObject({ used: 7, limit: 12 });
});

test("a ledger that cannot be read now is asked again at the next change", async () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock });
  let down = true;
  const reports = {
    dailySpend: async () => {
      if (down) throw new Error("closed");
      return [{ workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1", day: clock.now(), usd: 1 }];
    },
  };
  const budgets = new NewBudgets({ counter, reports, clock }, []);
  await expect(budgets.see([scope(10)], () => null)).rejects.toThrow("closed");
  down = false;
  await budgets.see([scope(10)], () => null);
  expect((await createAdmission({ counter, clock }).standings([scope(10)]))[0]?.used).toBe(1);
});
