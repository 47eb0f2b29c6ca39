import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ConsoleKey } from "@sluice/contract";
import { isKeyOf, keySorts, keyStates, mayCallWith } from "@sluice/contract/words";
import { type LedgerEntry, nanoToUsd, personScopeId } from "#core/index.ts";
import type { AuditFilter, KeyFilter } from "#ports/index.ts";
import { pruneAudit } from "#storage/index.ts";
import type { ReportFixture } from "./report-fixture.ts";
import { reportPeopleTests } from "./report-people-suite.ts";
import { costsOf, day, everyRow, hour } from "./report-store-suite.ts";
import { newYear } from "./store-fixture.ts";

/** Guarantees of every implementation of the port `ReportStore` for keys, the audit log and the other sums. */
export function reportListsSuite(name: string, open: (count: number) => Promise<ReportFixture>): void {
  describe(`report store, other lists: ${name}`, () => {
    let fixture: ReportFixture;
    beforeAll(async () => {
      fixture = await open(400);
      await addKeys(fixture);
      await addAudit(fixture);
    });
    afterAll(() => fixture[Symbol.asyncDispose]());
    keyTests(() => fixture);
    auditTests(() => fixture);
    auditPruneTests(() => fixture);
    reportPeopleTests(() => fixture);
    sumTests(() => fixture);
  });
}

const now = newYear + 10 * day;
const keyCount = 60;

/** Keys in every state, some with a creator, with names in no order that also occur in the other workspace. */
async function addKeys({ database, acme, beta }: ReportFixture): Promise<void> {
  const times = { created_at: new Date(newYear).toISOString(), updated_at: new Date(newYear).toISOString() };
  const unused = {
    email_verified: 1,
    image: null,
    two_factor_enabled: 0,
    administrator: 0,
    disabled: 0,
    last_seen_at: null,
  };
  await database.kysely
    .insertInto("auth_users")
    .values({ id: "usr_1", name: "Ada", email: "ada@example.com", ...unused, ...times })
    .execute();
  const rows = Array.from({ length: keyCount }, (_, n) => {
    const place = n % 3 === 0 ? beta : acme;
    return {
      id: `key_${n}`,
      workspace_id: place.id,
      group_id: place.groups[n % place.groups.length] ?? "",
      name: `${n % 2 === 0 ? "Ünder_score" : "100%"} ${(n * 37) % keyCount}`,
      digest: n % 7 === 0 ? null : `digest ${n}`,
      prefix: `sk-sluice-${String(n).padStart(4, "x")}`,
      last_four: `z${String(n).padStart(3, "0")}`,
      models: null,
      pass_through: "[]",
      allowed_ips: null,
      limits: '{"rpm":5}',
      budget: n % 10 === 0 ? '{"nanoUsd":2500000000,"period":"day"}' : null,
      tags: "{}",
      capture: "none",
      set_by_admins: "",
      service: 0,
      enabled: n % 5 === 0 ? 0 : 1,
      revoked_at: n % 11 === 0 ? now : null,
      expires_at: n % 4 === 0 ? now - 1 + (n % 8) : null,
      managed_by: "console" as const,
      created_at: newYear,
      created_by: n % 6 === 0 ? "usr_1" : null,
      old_digest: null,
      old_until: null,
    };
  });
  await database.kysely.insertInto("api_keys").values(rows).execute();
}

async function addAudit({ database, acme }: ReportFixture): Promise<void> {
  const rows = Array.from({ length: 90 }, (_, n) => ({
    at: newYear + n,
    actor: n % 2 === 0 ? "ada@example.com" : "cli",
    ip: n % 2 === 0 ? "192.0.2.7" : null,
    workspace_id: n % 3 === 0 ? acme.id : n % 3 === 1 ? "ws_gone" : null,
    action: n % 4 === 0 ? "remove" : "change",
    object: `thing ${n}`,
    before: n % 5 === 0 ? JSON.stringify({ n }) : null,
    after: null,
  }));
  await database.kysely.insertInto("audit_log").values(rows).execute();
}

function keyTests(fixture: () => ReportFixture): void {
  test("lists keys by name, each once, and exactly those that match a filter", async () => {
    const { reports, acme, beta } = fixture();
    const list = (filter: Omit<KeyFilter, "now">, size: number) =>
      everyRow((cursor) => reports.keys({ ...filter, now }, cursor, size));
    const all = await list({ workspaceId: null }, 7);
    expect(all.length).toBe(keyCount + 3);
    expect(new Set(all.map((key) => key.id)).size).toBe(all.length);
    const named = all.toSorted((a, b) => compareBytes(a.name, b.name) || compareBytes(a.id, b.id));
    expect(all.map((key) => key.id)).toEqual(named.map((key) => key.id));
    const cases: [Omit<KeyFilter, "now" | "workspaceId">, (key: ConsoleKey) => boolean][] = [
      [{}, () => true],
      [{ groupId: acme.groups[0] ?? "" }, (key) => key.group.id === acme.groups[0]],
      [{ userId: "usr_1" }, (key) => isKeyOf(key, "usr_1")],
      ...[true, false].map((isAdmin): [Partial<KeyFilter>, (key: ConsoleKey) => boolean] => [
        { callableBy: { userId: "usr_1", isAdmin } },
        (key) => mayCallWith(key, "usr_1", { isAdmin }),
      ]),
      [{ keyId: "key_3" }, (key) => key.id === "key_3"],
      [{ search: "R_s" }, (key) => key.name.includes("r_s")],
      [{ search: "0% 1" }, (key) => key.name.includes("0% 1")],
      [{ search: "rXs" }, () => false],
      // Letters outside ASCII are matched in either case, because databases know upper and lower case only for ASCII.
      [{ search: "Ünder_" }, (key) => key.name.includes("Ünder_")],
      [{ search: "ÜNDER_S" }, (key) => key.name.includes("Ünder_")],
      [{ search: "sk-sluice-xx1" }, (key) => key.prefix.startsWith("sk-sluice-xx1")],
      [{ search: "017" }, (key) => key.last_four === "z017"],
      [{ search: "Z017" }, (key) => key.last_four === "z017"],
      [{ search: "sk-sluice-xx17-the-whole-secret-z017" }, (key) => key.id === "key_17"],
      ...(["active", "disabled", "expired", "revoked", "without_secret"] as const).map(
        (state): [{ state: string }, (key: ConsoleKey) => boolean] => [{ state }, (key) => key.state === state],
      ),
    ];
    for (const workspaceId of [null, acme.id, beta.id]) {
      for (const [filter, matchesKey] of cases) {
        const found = await list({ ...filter, workspaceId }, 5);
        const expected = all.filter(
          (key) => (workspaceId === null || key.workspace.id === workspaceId) && matchesKey(key),
        );
        expect([filter, found.map((key) => key.id)]).toEqual([filter, expected.map((key) => key.id)]);
      }
    }
    expect(new Set(all.map((key) => key.state)).size).toBe(5);
  });

  test("sorts all keys on every page, and counts them", async () => {
    const { reports, entries, acme, database } = fixture();
    await database.kysely
      .insertInto("tasks")
      .values({ id: "vt_list", kind: "video", created_at: newYear + 90 * 60_000, ...taskOf(acme, "key_1") } as never)
      .execute();
    const sumOf = (id: string) =>
      entries.filter(({ keyId }) => keyId === id).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const values: Record<string, (key: ListRow) => number | string | null> = {
      name: (key) => key.name,
      workspace: (key) => key.workspace.slug,
      group: (key) => key.group.name,
      state: (key) => keyStates.indexOf(key.state),
      expires: (key) => key.expires_at,
      created: (key) => key.created_at,
      used: (key) => key.last_used_at ?? 0,
      spend: (key) => key.spend_usd,
      budget: (key) => (key.budget === null ? null : (key.spend_usd ?? 0) / key.budget.usd),
    };
    for (const sort of keySorts) {
      const order = { ...byName, sort };
      const counts = new Set<number>();
      const rows = await everyRow(async (cursor) => {
        const page = await reports.keyList({ workspaceId: null, now }, order, cursor, 7);
        counts.add(page.total);
        return page;
      });
      const sortValueOf = values[sort.replace("-", "")];
      const sign = sort.startsWith("-") ? -1 : 1;
      const expected = rows.toSorted((a, b) => {
        const [x = null, y = null] = [sortValueOf?.(a), sortValueOf?.(b)];
        if (x === y) return compareBytes(a.id, b.id);
        if (x === null || y === null) return x === null ? 1 : -1;
        return sign * (x < y ? -1 : 1);
      });
      expect([sort, rows.map(({ id }) => id)]).toEqual([sort, expected.map(({ id }) => id)]);
      expect([...counts]).toEqual([keyCount + 3]);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(keyCount + 3);
    }
    const [first] = (await reports.keyList({ workspaceId: null, now }, { ...byName, sort: "-spend" }, null, 1)).data;
    expect(first?.spend_usd).toBeCloseTo(nanoToUsd(sumOf(first?.id ?? "")), 9);
    expect(first?.spend_usd).toBeGreaterThan(0);
  });

  test("neither returns nor sorts by what other people's keys spend", async () => {
    const { reports, acme, database } = fixture();
    const ci = acme.keys[0] ?? "";
    const setOwner = (owner: string | null) =>
      database.kysely.updateTable("api_keys").set({ owner_id: owner }).where("id", "=", ci).execute();
    await setOwner("usr_1");
    const order = { ...byName, sort: "-spend", visiblePerson: "usr_2" } as const;
    const { data } = await reports.keyList({ workspaceId: acme.id, now }, order, null, 200);
    expect(data.at(-1)).toMatchObject({ id: ci, spend_usd: null });
    await setOwner(null);
  });

  test("filters keys by model, tag, expiry and last use", async () => {
    const { reports, acme, database } = fixture();
    const set = (id: string, columns: object) =>
      database.kysely.updateTable("api_keys").set(columns).where("id", "=", id).execute();
    await set("key_1", { models: '["gpt-*"]', tags: '{"list":"search"}' });
    await set("key_2", { models: '["claude"]', tags: '{"list":"ads"}' });
    const ids = async (filter: Omit<KeyFilter, "now" | "workspaceId">) => {
      const list = await reports.keyList({ workspaceId: acme.id, now, ...filter }, byName, null, 200);
      expect(list.total).toBe(list.data.length);
      return list.data.map(({ id }) => id);
    };
    expect(await ids({ tag: { name: "list" } })).toEqual(["key_1", "key_2"]);
    expect(await ids({ tag: { name: "list", value: "ads" } })).toEqual(["key_2"]);
    expect(await ids({ tag: { name: "constructor" } })).toEqual([]);
    const callable = await ids({ model: { name: "gpt-5", groupIds: acme.groups } });
    expect(callable).toContain("key_1");
    expect(callable).not.toContain("key_2");
    expect(await ids({ model: { name: "gpt-5", groupIds: [] } })).toEqual([]);
    const { data } = await reports.keyList({ workspaceId: acme.id, now }, byName, null, 200);
    const expiring = data.filter((key) => (key.expires_at ?? 0) > now && key.revoked_at === null);
    expect(expiring.length).toBeGreaterThan(0);
    expect(await ids({ expiresBefore: now + hour })).toEqual(expiring.map(({ id }) => id));
    const used = data.find(({ id }) => id === acme.keys[0])?.last_used_at ?? 0;
    expect(await ids({ unusedSince: used })).not.toContain(acme.keys[0] ?? "");
    expect(await ids({ unusedSince: used + hour })).toContain(acme.keys[0] ?? "");
    expect(await ids({ unusedSince: used })).toContain("key_4");
  });

  test("returns a key's creator, limits and last use by an entry or a task", async () => {
    const { reports, entries, acme, database } = fixture();
    const readKey = async (keyId: string) => (await reports.keys({ workspaceId: null, keyId, now }, null, 1)).data[0];
    expect(await readKey("key_30")).toMatchObject({
      created_by: { id: "usr_1", email: "ada@example.com", name: "Ada" },
      limits: { rpm: 5 },
      budget: { usd: 2.5, period: "day" },
      last_used_at: null,
    });
    const ci = acme.keys[0] ?? "";
    const last = Math.max(...entries.filter((entry) => entry.keyId === ci).map((entry) => entry.at));
    expect(await readKey(ci)).toMatchObject({ name: "ci", created_by: null, last_used_at: last });
    await database.kysely
      .insertInto("tasks")
      .values({ id: "vt_1", kind: "video", created_at: last + 5, ...taskOf(acme, ci) } as never)
      .execute();
    expect((await readKey(ci))?.last_used_at).toBe(last + 5);
    expect((await reports.keys({ workspaceId: "ws_none", keyId: ci, now }, null, 1)).data).toEqual([]);
  });
}

type ListRow = Awaited<ReturnType<ReportFixture["reports"]["keyList"]>>["data"][number];

const byName = {
  sort: "name",
  visiblePerson: null,
} as const;

function taskOf(place: ReportFixture["acme"], keyId: string) {
  return {
    workspace_id: place.id,
    group_id: "",
    key_id: keyId,
    request_id: "req_t",
    model: "clip",
    deployment: "d",
    upstream_model: "clip",
    attempt_id: "att_t",
    state: "running",
    params: "{}",
    request_digest: "",
    metadata: "{}",
    user_agent: "",
    tags: "{}",
    reserved_nano_usd: 0,
    updated_at: newYear,
    deadline_at: newYear,
    final: 0,
    polls: 0,
  };
}

/** Compares texts by code point, like the database. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function auditTests(fixture: () => ReportFixture): void {
  test("lists the audit log newest first, by workspace, action, time, and part of the object or actor", async () => {
    const { reports, acme } = fixture();
    const list = (filter: AuditFilter) => everyRow((cursor) => reports.audit(filter, cursor, 8));
    const all = await list({ workspaceId: null });
    expect(all.map((row) => row.seq)).toEqual(all.map((row) => row.seq).toSorted((a, b) => b - a));
    const things = all.filter((row) => row.object.startsWith("thing "));
    expect(things.length).toBe(90);
    expect(await list({ workspaceId: acme.id })).toEqual(all.filter((row) => row.workspace?.id === acme.id));
    expect(await list({ workspaceId: null, action: "remove" })).toEqual(all.filter((row) => row.action === "remove"));
    expect((await list({ workspaceId: null, search: "THING 1" })).map((row) => row.object)).toEqual(
      things.filter((row) => row.object.startsWith("thing 1")).map((row) => row.object),
    );
    expect((await list({ workspaceId: null, search: "ada@" })).length).toBe(45);
    const inTime = await list({ workspaceId: null, from: newYear + 10, to: newYear + 20, search: "thing" });
    expect(inTime.map((row) => row.at)).toEqual(Array.from({ length: 10 }, (_, n) => newYear + 19 - n));
    expect(things.find((row) => row.object === "thing 15")).toMatchObject({
      actor: "cli",
      workspace: { id: acme.id, slug: "acme" },
      before: { n: 15 },
      after: null,
    });
    expect(things.find((row) => row.object === "thing 1")?.workspace).toEqual({ id: "ws_gone", slug: "ws_gone" });
    expect(things.find((row) => row.object === "thing 2")?.workspace).toBeNull();
  });
}

function auditPruneTests(fixture: () => ReportFixture): void {
  test("deletes all audit entries that are too old, and nothing else", async () => {
    const { database, reports } = fixture();
    const all = async () => await everyRow((cursor) => reports.audit({ workspaceId: null }, cursor, 50));
    const before = await all();
    const old = Array.from({ length: 300 }, (_, n) => ({
      ...{ at: newYear - 500 * day + n, actor: "cli", ip: null, workspace_id: null, action: "change" },
      // Old entries have lower sequence numbers than all others.
      ...{ seq: n - 1_000, object: `old ${n}`, before: null, after: null },
    }));
    await database.kysely.insertInto("audit_log").values(old).execute();
    expect(await pruneAudit(database, newYear - 500 * day)).toBe(0);
    expect(await pruneAudit(database, newYear - 400 * day)).toBe(300);
    expect(await all()).toEqual(before);
  });
}

function sumTests(fixture: () => ReportFixture): void {
  test("sums costs by provider and model, and the vendors' reported costs with the own prices of the same calls", async () => {
    const { reports, entries, acme } = fixture();
    const [from, to] = [newYear + 5 * hour, newYear + 40 * hour];
    for (const workspaceId of [null, acme.id]) {
      const inTime = entries.filter(
        (entry) =>
          (workspaceId ?? entry.workspaceId) === entry.workspaceId &&
          entry.at >= from &&
          entry.at < to &&
          entry.provider !== "",
      );
      const all = await reports.costs({ workspaceId, from: from + 1, to: to - 1 });
      const pairs = new Set(inTime.map(({ provider, model }) => `${provider} ${model}`));
      expect(all.map(({ provider, model }) => `${provider} ${model}`).toSorted()).toEqual([...pairs].toSorted());
      expect(all).toEqual(all.toSorted((a, b) => b.cost_usd - a.cost_usd));
      for (const row of all) {
        const own = inTime.filter(({ provider, model }) => provider === row.provider && model === row.model);
        expect(row).toMatchObject({ attempts: own.length, ...costsOf(own) });
      }
      const by = await reports.usage({ workspaceId, from, to, stepMs: hour, by: "provider" });
      expect(by.totals).toMatchObject(costsOf(entries.filter((entry) => inTime.includes(entry))));
      for (const line of by.lines.filter(({ id }) => id.startsWith("p"))) {
        expect(line.totals).toMatchObject(costsOf(inTime.filter(({ provider }) => provider === line.id)));
      }
    }
  });

  test("sums the usage of models by class over whole hours", async () => {
    const { reports, entries } = fixture();
    const [from, to] = [newYear + 5 * hour, newYear + 40 * hour];
    const inTime = entries.filter((entry) => entry.at >= from && entry.at < to);
    const all = await reports.modelUsage(null, from + 1, to - 1);
    expect(all.map(({ model }) => model).toSorted()).toEqual([...new Set(inTime.map((e) => e.model))].toSorted());
    for (const { model, requests, failedRequests, costUsd, usage } of all) {
      const own = inTime.filter((entry) => entry.model === model);
      const sum = (of: (entry: (typeof own)[number]) => number) => own.reduce((total, entry) => total + of(entry), 0);
      expect(requests).toBe(own.filter((entry) => entry.retryIndex === 0).length);
      const good = own.filter(({ outcome }) => outcome === "succeeded" || outcome === "cancelled").length;
      expect(failedRequests).toBe(Math.max(0, requests - good));
      expect(costUsd).toBe(nanoToUsd(sum((entry) => entry.costNanoUsd)));
      expect(usage).toMatchObject({
        inputUncached: sum((entry) => entry.usage.inputUncached),
        output: sum((entry) => entry.usage.output),
        videoSeconds: sum((entry) => entry.usage.videoSeconds),
      });
    }
    const spends = new Map((await reports.personSpend(newYear)).map(({ personId, usd }) => [personId, usd]));
    for (const [personId = "", own] of Map.groupBy(entries, (entry) => entry.personId)) {
      const nano = own.reduce((total, entry) => total + entry.costNanoUsd, 0);
      expect(spends.get(personId) ?? 0).toBe(personId === "" ? 0 : nanoToUsd(nano));
    }
    expect(await reports.modelUsage("m1", from, to)).toEqual(all.filter(({ model }) => model === "m1"));
    expect(await reports.modelUsage("none", from, to)).toEqual([]);
  });

  test("counts attempts and failures of deployments since a time, without rejected calls", async () => {
    const { reports, entries } = fixture();
    const since = newYear + 30 * hour;
    const uses = await reports.deploymentUse(since);
    const inTime = entries.filter((entry) => entry.at >= since && entry.deployment !== "");
    expect(uses.reduce((sum, use) => sum + use.attempts, 0)).toBe(inTime.length);
    for (const { deployment, provider, attempts, failed } of uses) {
      const own = inTime.filter((entry) => entry.deployment === deployment && entry.provider === provider);
      expect([attempts, failed]).toEqual([own.length, own.filter((entry) => entry.outcome === "failed").length]);
    }
  });

  test("sums the spend of each group by day, and of keys with a budget or when requested", async () => {
    const { reports, entries, acme, database, ledgerStore } = fixture();
    const ci = acme.keys[0] ?? "";
    const budget = '{"nanoUsd":1,"period":"day"}';
    await database.kysely.updateTable("api_keys").set({ budget }).where("id", "=", ci).execute();
    const since = newYear + day;
    const own = entries.filter((entry) => entry.workspaceId === acme.id && entry.at >= since);
    const spendOf = (some: readonly (typeof own)[number][]) =>
      nanoToUsd(some.reduce((sum, entry) => sum + entry.costNanoUsd, 0));
    const days = await reports.dailySpend(acme.id, since);
    const sum = (some: typeof days) => some.reduce((total, row) => total + row.usd, 0);
    expect(sum(days)).toBeCloseTo(spendOf(own), 6);
    for (const group of acme.groups) {
      const inGroup = own.filter((entry) => entry.groupId === group);
      expect(sum(days.filter((row) => row.groupId === group))).toBeCloseTo(spendOf(inGroup), 6);
    }
    expect(new Set(days.map((row) => row.keyId))).toEqual(new Set([ci, ""]));
    expect(sum(days.filter((row) => row.keyId === ci))).toBeCloseTo(spendOf(own.filter((e) => e.keyId === ci)), 6);
    const deletedKey = await reports.dailySpend(acme.id, since, "key_gone");
    expect(new Set(deletedKey.map((row) => row.keyId))).toEqual(new Set(["key_gone"]));
    expect(sum(deletedKey)).toBeCloseTo(spendOf(own.filter((entry) => entry.keyId === "key_gone")), 6);
    expect(days.every((row) => row.day % day === 0 && row.day >= since)).toBe(true);
    // Sums of past days are cached, for these keys with a budget only.
    while ((await ledgerStore.sumDay(newYear + 100 * day)) > 0);
    expect(await reports.dailySpend(acme.id, since)).toEqual(days);
    await database.kysely.updateTable("api_keys").set({ budget: null }).where("id", "=", ci).execute();
    const withoutBudget = await reports.dailySpend(acme.id, since);
    expect(new Set(withoutBudget.map((row) => row.keyId))).toEqual(new Set([""]));
    expect(sum(withoutBudget)).toBeCloseTo(spendOf(own), 6);
  });

  test("sums the spend of scopes in a period, and lists the latest entries", async () => {
    const { reports, entries, acme } = fixture();
    const [some] = entries;
    if (some === undefined) throw new Error("there are no entries");
    const from = newYear;
    const to = newYear + day;
    const groupId = acme.groups[0] ?? "";
    const scopes = [
      { kind: "workspace", id: acme.id, from, to },
      { kind: "group", id: groupId, from, to: null },
      { kind: "key", id: some.keyId, from, to },
      { kind: "key", id: "key_unknown", from, to },
      { kind: "person", id: personScopeId(acme.id, "usr_1"), from, to },
      { kind: "person", id: personScopeId(acme.id, "usr_none"), from, to: null },
    ] as const;
    const cost = (of: readonly LedgerEntry[]) => of.reduce((sum, entry) => sum + entry.costNanoUsd, 0);
    const within = (entry: LedgerEntry) => entry.at >= from && entry.at < to;
    const later = (entry: LedgerEntry) => entry.at >= to;
    const ofAcme = entries.filter(({ workspaceId }) => workspaceId === acme.id);
    const ofGroup = entries.filter((entry) => entry.groupId === groupId && entry.at >= from);
    const ofPerson = ofAcme.filter(({ personId }) => personId === "usr_1");
    const ofKey = entries.filter(({ keyId }) => keyId === some.keyId);
    const since = newYear + 12 * hour;
    const { spent, recent } = await reports.spending(scopes, since);
    expect(spent).toEqual([
      { amount: cost(ofAcme.filter(within)), later: cost(ofAcme.filter(later)) },
      { amount: cost(ofGroup), later: 0 },
      { amount: cost(ofKey.filter(within)), later: cost(ofKey.filter(later)) },
      { amount: 0, later: 0 },
      { amount: cost(ofPerson.filter(within)), later: cost(ofPerson.filter(later)) },
      { amount: 0, later: 0 },
    ]);
    expect(cost(ofPerson)).toBeGreaterThan(0);
    const latest = entries.filter(
      (entry) =>
        entry.endedAt >= since &&
        entry.costNanoUsd > 0 &&
        (entry.workspaceId === acme.id ||
          entry.groupId === groupId ||
          entry.keyId === some.keyId ||
          // The person's entries in other workspaces are included; the caller filters them.
          entry.personId === "usr_1"),
    );
    expect(new Set(recent.map(({ attemptId }) => attemptId))).toEqual(
      new Set(latest.map(({ attemptId }) => attemptId)),
    );
    expect(recent.length).toBeGreaterThan(0);
  });

  test("sums the spend of parts of hours and of buckets", async () => {
    const { reports, entries, acme } = fixture();
    const ofAcme = entries.filter(({ workspaceId }) => workspaceId === acme.id);
    const sum = (of: readonly LedgerEntry[]) => of.reduce((all, entry) => all + entry.costNanoUsd, 0);
    const since = (from: number) => ofAcme.filter((entry) => entry.at >= from);
    const half = newYear + 30 * 60_000;
    const scope = { kind: "workspace", id: acme.id } as const;
    const { spent } = await reports.spending(
      [
        { ...scope, from: half, to: half + day },
        { ...scope, from: half, to: half + 20 * 60_000 },
        { ...scope, from: newYear, to: null, bucketMs: 3 * hour },
        { ...scope, from: half, to: null, bucketMs: 60_000 },
      ],
      Number.MAX_SAFE_INTEGER,
    );
    const [days, minutes, hours, short] = spent;
    expect(days).toEqual({ amount: sum(since(half)) - sum(since(half + day)), later: sum(since(half + day)) });
    const end = half + 20 * 60_000;
    expect(minutes).toEqual({ amount: sum(since(half)) - sum(since(end)), later: sum(since(end)) });
    for (const [found, from, length] of [
      [hours, newYear, 3 * hour],
      [short, half, 60_000],
    ] as const) {
      const buckets = Map.groupBy(since(from), ({ at }) => at - (at % length));
      const wanted = [...buckets].map(([start, of]) => [start, sum(of)] as const).filter(([, amount]) => amount > 0);
      const positive = found?.buckets?.filter(([, amount]) => amount > 0) ?? [];
      expect(new Map(positive)).toEqual(new Map(wanted));
      expect(found?.amount).toBe(sum(since(from)));
    }
    expect(hours?.buckets?.length).toBeGreaterThan(1);
  });

  test("counts entries as they arrive and are pruned", async () => {
    const { reports, ledgerStore, entries } = fixture();
    expect((await reports.facts()).entries).toBe(entries.length);
    expect((await reports.facts()).sizeBytes).toBeGreaterThan(100_000);
    const before = newYear + 48 * hour;
    const deletedKey = await ledgerStore.prune(before);
    expect(deletedKey).toBeGreaterThan(0);
    expect((await reports.facts()).entries).toBe(entries.length - deletedKey);
  });

  test("totals of all time begin at the moment up to which entries were removed, also within an hour", async () => {
    const { reports, ledgerStore, entries } = fixture();
    const before = newYear + 49.5 * hour;
    await ledgerStore.prune(before);
    const left = entries.filter(({ at }) => at >= before);
    const totals = await reports.requestTotals({ workspaceId: null });
    expect(totals.attempts).toBe(left.length);
    expect(totals.cost_usd).toBeCloseTo(nanoToUsd(left.reduce((sum, entry) => sum + entry.costNanoUsd, 0)), 6);
  });
}
