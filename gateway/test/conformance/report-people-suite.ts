import { expect, test } from "bun:test";
import { type PeopleSort, peopleSorts } from "@sluice/contract";
import fc from "fast-check";
import { type LedgerEntry, nanoToUsd, personScopeId } from "#core/index.ts";
import type { PeopleUsageFilter, PersonUsage } from "#ports/index.ts";
import type { ReportFixture } from "./report-fixture.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** Reports about people: lists in any order, and spend by day. */
export function reportPeopleTests(fixture: () => ReportFixture): void {
  test("lists every person with the sums of their entries, in every order and page size", async () => {
    const { reports, entries, acme } = fixture();
    const query = fc.record({
      workspaceId: fc.constantFrom(null, acme.id),
      fromHour: fc.integer({ min: 0, max: 60 }),
      hours: fc.integer({ min: 1, max: 80 }),
      sort: fc.constantFrom(...peopleSorts),
      limit: fc.constantFrom(1, 2, 50),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ workspaceId, fromHour, hours, sort, limit }) => {
        const from = newYear + fromHour * hour;
        const filter: PeopleUsageFilter = { workspaceId, from, to: from + hours * hour, sort };
        const { data, people, totals } = await everyPage(fixture(), filter, limit);
        const inTime = entries.filter(
          (entry) =>
            entry.at >= filter.from &&
            entry.at < filter.to &&
            (workspaceId === null || entry.workspaceId === workspaceId),
        );
        const byPerson = Map.groupBy(inTime, ({ personId }) => personId ?? "");
        expect(new Set(data.map(({ person }) => person?.id ?? ""))).toEqual(new Set(byPerson.keys()));
        expect(data.length).toBe(byPerson.size);
        expect(people).toBe([...byPerson.keys()].filter((id) => id !== "").length);
        for (const { person, ...sums } of data) expect(sums).toEqual(sumsOf(byPerson.get(person?.id ?? "") ?? []));
        expect(totals).toEqual(sumsOf(inTime));
        const values = data.map((row) => sortedBy(row, sort));
        const [less, more] = sort.startsWith("-") ? [1, -1] : [-1, 1];
        expect(values).toEqual(values.toSorted((a, b) => (a < b ? less : a > b ? more : 0)));
      }),
      { numRuns: 30 },
    );
    const never = newYear + 400 * day;
    const none = await reports.peopleUsage(
      { workspaceId: null, from: never, to: never + hour, sort: "person" },
      null,
      9,
    );
    expect(none).toMatchObject({ data: [], next: null, people: 0, totals: { requests: 0, costUsd: 0 } });
  });

  test("searches people by address and name on any page, and rejects a cursor of another order", async () => {
    const { reports } = fixture();
    const time = { workspaceId: null, from: newYear, to: newYear + 3 * day };
    const first = await reports.peopleUsage({ ...time, sort: "-cost_usd" }, null, 1);
    const last = (await everyPage(fixture(), { ...time, sort: "-cost_usd" }, 50)).data.findLast(({ person }) => person);
    const search = last?.person?.email.toUpperCase() ?? "";
    const found = await reports.peopleUsage({ ...time, sort: "-cost_usd", search }, null, 1);
    expect(found).toMatchObject({ data: [last], next: null, people: 1 });
    expect(first.totals).toEqual(found.totals);
    for (const cursor of [first.next, "nonsense", Buffer.from("[1]").toString("base64url")]) {
      const refused = await reports
        .peopleUsage({ ...time, sort: "person" }, cursor, 1)
        .catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ code: "invalid_request", param: "cursor" });
    }
  });

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
    const { data } = await reports.peopleUsage({ workspaceId: "ws_hands", ...time, sort: "-cost_usd" }, null, 9);
    expect(data.map(({ costUsd }) => Math.round(costUsd * 1e9))).toEqual([107, 15]);
    const days = await reports.personDailySpend([scopeOf("usr_ada").id], at);
    expect(days.map(({ usd }) => Math.round(usd * 1e9))).toEqual([107]);
    for (const table of ["ledger_entries", "usage_rollups"] as const) {
      await database.kysely.deleteFrom(table).where("workspace_id", "=", "ws_hands").execute();
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

async function everyPage({ reports }: ReportFixture, filter: PeopleUsageFilter, limit: number) {
  const data: PersonUsage[] = [];
  let page = await reports.peopleUsage(filter, null, limit);
  data.push(...page.data);
  while (page.next !== null) {
    page = await reports.peopleUsage(filter, page.next, limit);
    expect(page.data.length).toBeGreaterThan(0);
    data.push(...page.data);
  }
  return { ...page, data };
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

function sortedBy(row: PersonUsage, sort: PeopleSort): number | string {
  if (sort.endsWith("person")) return row.person?.email ?? "\u{10FFFF}";
  if (sort.endsWith("requests")) return row.requests;
  return sort.endsWith("tokens") ? row.inputTokens + row.outputTokens : row.costUsd;
}
