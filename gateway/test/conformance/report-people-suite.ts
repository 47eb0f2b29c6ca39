import { expect, test } from "bun:test";
import { type LedgerEntry, nanoToUsd, noUsage, personScopeId } from "#core/index.ts";
import { createAdjustments } from "#ledger/index.ts";
import type { ReportFixture } from "./report-fixture.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** Reports about people: spend by day, and what each may see. */
export function reportPeopleTests(fixture: () => ReportFixture): void {
  test("sums the spend of people by day, also for hours in which a key changed its owner", async () => {
    const { reports, entries, acme, beta } = fixture();
    const since = newYear + day;
    const scopes = [personScopeId(acme.id, "usr_1"), personScopeId(beta.id, "usr_0"), personScopeId(acme.id, "usr_2")];
    const days = await reports.personDailySpend(scopes, since);
    const own = entries.filter(
      ({ personId = "", at }) => ["usr_0", "usr_1", "usr_2"].includes(personId) && at >= since,
    );
    const truth = Map.groupBy(
      own.filter(({ costNanoUsd }) => costNanoUsd > 0),
      ({ workspaceId, personId = "", at }) => `${workspaceId} ${personId} ${at - (at % day)}`,
    );
    expect(truth.size).toBeGreaterThan(4);
    expect(Object.fromEntries(days.map((row) => [`${row.workspaceId} ${row.personId} ${row.day}`, row.usd]))).toEqual(
      Object.fromEntries([...truth].map(([name, of]) => [name, sumsOf(of).costUsd])),
    );
    expect(await reports.personDailySpend([], since)).toEqual([]);
  });

  test("sums the spend of people whose key changed its owner within an hour and is still used", async () => {
    const { reports, ledgerStore, database } = fixture();
    const at = newYear + 300 * day;
    const place = { at, workspaceId: "ws_hands", keyId: "key_hands" };
    const insertCall = (name: string, personId: string, costNanoUsd: number) =>
      ledgerStore.insert([ledgerEntry(`hands_${name}`, { ...place, personId, costNanoUsd })]);
    await insertCall("1", "usr_ada", 100);
    await insertCall("2", "usr_bob", 10);
    while ((await ledgerStore.fold()) > 0) {}
    await insertCall("3", "usr_ada", 7);
    await insertCall("4", "usr_bob", 5);
    const time = { from: at, to: at + hour };
    const scopeOf = (id: string) => ({ kind: "person" as const, id: personScopeId("ws_hands", id), ...time });
    const { spent } = await reports.spending([scopeOf("usr_ada"), scopeOf("usr_bob")], at + hour);
    expect(spent.map(({ amount }) => amount)).toEqual([107, 15]);
    const byPerson = { workspaceId: "ws_hands", ...time, by: "person", sort: "-cost_usd" } as const;
    const { data } = await reports.usageRows(byPerson, null, 9);
    expect(data.map(({ costNanoUsd }) => costNanoUsd)).toEqual([107, 15]);
    const days = await reports.personDailySpend([scopeOf("usr_ada").id], at);
    expect(days.map(({ usd }) => Math.round(usd * 1e9))).toEqual([107]);
    for (const table of ["ledger_entries", "usage_rollups"] as const) {
      await database.kysely.deleteFrom(table).where("workspace_id", "=", "ws_hands").execute();
    }
  });

  test("adds adjustments to spending, usage, chargeback and lists, without counting a request", async () => {
    const { reports, ledgerStore, database } = fixture();
    const at = newYear + 310 * day;
    const call = { workspaceId: "ws_adjusted", keyId: "key_adjusted", personId: "usr_ada", tags: { team: "ads" } };
    await ledgerStore.insert([ledgerEntry("adjusted", { ...call, at: at + hour, costNanoUsd: 100 })]);
    const attempts = async () => [await reports.alertProviders(at, at + day), await reports.deploymentUse(at)];
    const before = await attempts();
    const { split } = createAdjustments({ store: ledgerStore });
    const bill = { id: "bill", reason: "credit", adjusts: "output", at: at + 12 * hour } as const;
    await split({ ...bill, provider: "openai-main", models: ["gpt-5"], costNanoUsd: -130 });
    const beside = { at: at + hour, calls: 0, usage: noUsage, usageSource: "none", costNanoUsd: 0 } as const;
    await ledgerStore.insert([ledgerEntry("beside", { ...beside, workspaceId: "ws_beside" })]);
    expect(await attempts()).toEqual(before);
    const time = { from: at, to: at + day };
    const scopes = [
      { kind: "workspace", id: "ws_adjusted" },
      { kind: "key", id: "key_adjusted" },
      { kind: "person", id: personScopeId("ws_adjusted", "usr_ada") },
    ] as const;
    const { spent, recent } = await reports.spending(
      scopes.map((scope) => ({ ...scope, ...time })),
      at,
    );
    expect(spent.map(({ amount }) => amount)).toEqual([-30, -30, -30]);
    expect(recent.map(({ costNanoUsd }) => costNanoUsd).toSorted((a, b) => a - b)).toEqual([-130, 100]);
    const filter = { workspaceId: "ws_adjusted", ...time };
    const { totals, lines } = await reports.usage({ ...filter, by: "person", stepMs: day });
    expect(totals).toMatchObject({ requests: 1, attempts: 1, cost_usd: -30e-9 });
    expect(lines.map(({ id }) => id)).toEqual(["usr_ada"]);
    const chargeback = { workspaceId: "ws_adjusted", by: "tag", tag: "team", months: [time] } as const;
    expect((await reports.chargeback(chargeback)).data).toMatchObject([{ id: "ads", costNanoUsd: [-30] }]);
    const days = await reports.dailySpend("ws_adjusted", at);
    expect(days.reduce((all, { usd }) => all + Math.round(usd * 1e9), 0)).toBe(-30);
    const billed = await reports.billedUsage({ provider: "openai-main", ...time });
    expect(
      billed.map(({ calls, costNanoUsd, adjustment, adjusts }) => [calls, costNanoUsd, adjustment, adjusts]).toSorted(),
    ).toEqual([
      [0, -130, "credit", "output"],
      [1, 100, null, null],
    ]);
    const ofCall = billed.find(({ adjustment }) => adjustment === null);
    expect(ofCall).toMatchObject({ upstreamModel: "gpt-5-2026", isEstimated: false, isBroken: false, runsOver: false });
    expect(ofCall?.usage).toMatchObject({ inputUncached: 100, cacheRead: 20, output: 30 });
    const { data } = await reports.requests(filter, null, 9);
    expect(data.map((row) => [row.endpoint, row.calls, row.adjustment, row.adjusts])).toEqual([
      ["adjustment", 0, "credit", "output"],
      ["chat", 1, null, null],
    ]);
    for (const table of ["ledger_entries", "usage_rollups"] as const) {
      await database.kysely.deleteFrom(table).where("workspace_id", "in", ["ws_adjusted", "ws_beside"]).execute();
    }
  });

  test("shows a person their own usage, and all other usage only as one sum", async () => {
    const { reports, entries, database } = fixture();
    const time = { workspaceId: null, from: newYear, to: newYear + 3 * day, stepMs: day, visiblePerson: "usr_1" };
    const whole = sumsOf(entries);
    const byPerson = await reports.usage({ ...time, by: "person" });
    expect(new Set(byPerson.lines.map(({ id }) => id))).toEqual(new Set(["usr_1", "-", ""]));
    expect(byPerson.totals).toMatchObject({ requests: whole.requests, cost_usd: whole.costUsd });
    const before = await database.kysely.selectFrom("api_keys").select(["id", "owner_id"]).execute();
    const used = new Set(entries.map(({ keyId }) => keyId));
    const [otherKey, ownKey] = before.filter(({ id }) => used.has(id));
    if (otherKey === undefined || ownKey === undefined) throw new Error("there are no keys");
    const setOwner = (id: string, owner: string | null) =>
      database.kysely.updateTable("api_keys").set({ owner_id: owner }).where("id", "=", id).execute();
    await setOwner(otherKey.id, "usr_2");
    await setOwner(ownKey.id, "usr_1");
    const byKey = await reports.usage({ ...time, by: "key" });
    const lines = new Set(byKey.lines.map(({ id }) => id));
    expect([lines.has(otherKey.id), lines.has(ownKey.id), lines.has("key_gone"), lines.has("")]).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(byKey.totals).toMatchObject({ requests: whole.requests, cost_usd: whole.costUsd });
    expect((await reports.usage({ ...time, by: "none", keyId: otherKey.id })).totals.requests).toBe(0);
    expect((await reports.usage({ ...time, by: "none", keyId: ownKey.id })).totals.requests).toBeGreaterThan(0);
    const { data } = await reports.requests({ workspaceId: null, visiblePerson: "usr_1" }, null, 100);
    expect(new Set(data.map(({ person }) => person?.id ?? null))).toEqual(new Set(["usr_1", null]));
    for (const { id, owner_id } of before) await setOwner(id, owner_id);
  });
}

function sumsOf(entries: readonly LedgerEntry[]) {
  const sum = (of: (entry: LedgerEntry) => number) => entries.reduce((all, entry) => all + of(entry), 0);
  const requests = sum(({ retryIndex }) => (retryIndex === 0 ? 1 : 0));
  const answered = sum(({ outcome }) => (outcome === "succeeded" || outcome === "cancelled" ? 1 : 0));
  return {
    requests,
    failedRequests: Math.max(0, requests - answered),
    inputTokens: sum(({ usage }) => usage.inputUncached + usage.cacheRead),
    outputTokens: sum(({ usage }) => usage.output),
    costUsd: nanoToUsd(sum(({ costNanoUsd }) => costNanoUsd)),
  };
}
