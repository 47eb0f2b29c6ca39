import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { KeyWithUsage, LimitUsageRow } from "@sluice/contract";
import { createMemoryCounter } from "#coordination/index.ts";
import { type LedgerEntry, type Principal, Secret, usdToNano } from "#core/index.ts";
import { Admission, type Estimate } from "#limits/index.ts";
import { createReportStore } from "#storage/index.ts";
import { ledgerEntry, silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, type FixtureUser, openConsoleFixture } from "../console-fixture.ts";

const acme = { workspace: "acme" };

/** With the real reports thread. */
async function openLimits(): Promise<ConsoleFixture & { readonly admission: Admission }> {
  let admission: Admission | undefined;
  let close = async (): Promise<void> => undefined;
  const fixture = await openConsoleFixture((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    admission = new Admission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock });
    return { admission, reports, randomBytes, changesSeen: async () => undefined };
  });
  if (admission === undefined) throw new Error("The console was not opened.");
  return {
    ...fixture,
    admission,
    async [Symbol.asyncDispose]() {
      await close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

test("lists limits with their scope and workspace, widest first, and nothing of another workspace", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  await fixture.call("administrator", "workspaces.update", { params, body: { budget: { usd: 5, period: "month" } } });
  await fixture.call("admin", "groups.create", { params, body: { name: "cheap", limits: { rpm: 60 } } });
  await fixture.call("member", "keys.create", { params, body: { name: "ci", limits: { concurrency: 2 } } });
  const elsewhere = { name: "theirs", limits: { rpm: 1 } };
  await fixture.call("stranger", "keys.create", { params: { workspace: "other" }, body: elsewhere });
  const { acme, other } = fixture;
  const rows = async (who: "viewer" | "administrator", workspace: string) =>
    (await fixture.call(who, "limits.list", { params: { workspace } })).body.data.map(
      (row: { label: string; kind: string; workspace: object }) => [row.label, row.kind, row.workspace],
    );
  const ours = [
    ["workspace acme", "budget", { id: acme.id, slug: "acme" }],
    ["group acme/cheap", "rpm", { id: acme.id, slug: "acme" }],
    ["key acme/ci", "concurrency", { id: acme.id, slug: "acme" }],
  ];
  expect(await rows("viewer", "acme")).toEqual(ours);
  expect(await rows("administrator", "-")).toEqual([
    ...ours,
    ["key other/theirs", "rpm", { id: other.id, slug: "other" }],
  ]);
});

test("splits the spend of each budget by the values of a tag, in its current period", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  await fixture.call("administrator", "workspaces.update", { params, body: { budget: { usd: 50, period: "month" } } });
  const budget = { usd: 9, period: "day" } as const;
  const { body: made } = await fixture.call("member", "keys.create", {
    params,
    body: { name: "ci", budget, limits: { rpm: 3 } },
  });
  fixture.clock.jump(3 * 86_400_000);
  const now = fixture.clock.now();
  const { acme } = fixture;
  const add = (name: string, changes: Partial<LedgerEntry>) =>
    fixture.ledgerStore.insert([ledgerEntry(name, { workspaceId: acme.id, keyId: made.key.id, ...changes })]);
  await add("today", { at: now, costNanoUsd: 2e9, tags: { team: "search" } });
  await add("yesterday", { at: now - 86_400_000, costNanoUsd: 3e9, tags: { team: "ads" } });
  await add("untagged", { at: now, costNanoUsd: 1e9, keyId: "key_other" });
  const ask = async (query: object) => await fixture.call("member", "limits.list", { params, query });
  const split = (await ask({ tag: "team" })).body.data.map((row: LimitUsageRow) => [row.label, row.kind, row.by_tag]);
  expect(split).toEqual([
    [
      "workspace acme",
      "budget",
      [
        { value: "ads", usd: 3 },
        { value: "search", usd: 2 },
        { value: "-", usd: 1 },
      ],
    ],
    ["key acme/ci", "budget", [{ value: "search", usd: 2 }]],
    ["key acme/ci", "rpm", null],
  ]);
  const only = await ask({ tag: "team", tag_value: "ads", kind: "budget" });
  expect(only.body.data.map((row: LimitUsageRow) => row.by_tag)).toEqual([[{ value: "ads", usd: 3 }], []]);
  expect((await ask({ kind: "budget" })).body.data[0].by_tag).toBeNull();
  expect((await ask({ tag_value: "ads" })).param).toBe("tag");
  expect((await ask({ tag: '"' })).status).toBe(400);
});

test("searches for parts of a name literally, including `_` and `%`", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  for (const name of ["build_ci", "build-ci", "half 50%"]) {
    await fixture.call("member", "keys.create", { params, body: { name, limits: { rpm: 1 } } });
  }
  const found = async (search: string) =>
    (await fixture.call("viewer", "limits.list", { params, query: { search } })).body.data.map(
      ({ label }: { label: string }) => label,
    );
  expect(await found("D_C")).toEqual(["key acme/build_ci"]);
  expect(await found("0%")).toEqual(["key acme/half 50%"]);
  expect(await found("%")).toEqual(["key acme/half 50%"]);
});

/** Makes a call of a key that costs at least this much. */
async function callOf(fixture: { readonly admission: Admission }, key: { readonly id: string }, usd: number) {
  const budget = { nanoUsd: usdToNano(0.5), period: "month" } as const;
  const scope = { kind: "key", id: key.id, label: "key acme/ci", limits: {}, budget } as const;
  const estimate: Estimate = { tokens: 0, money: () => ({ most: usdToNano(usd), least: usdToNano(usd) }) };
  const principal = { scopes: [scope] } as unknown as Principal;
  return await fixture.admission.admit(principal, estimate);
}

test("shows a budget that refuses calls as exhausted, on its limit and its key, even if some of it is left", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  const body = { name: "ci", budget: { usd: 0.5, period: "month" } };
  const { key } = (await fixture.call("member", "keys.create", { params, body })).body;
  const state = async () => {
    const [row] = (await fixture.call("viewer", "limits.list", { params, query: { key: key.id } })).body.data;
    const [listed] = (await fixture.call("viewer", "keys.list", { params })).body.data;
    const shown = (await fixture.call("viewer", "keys.show", { params: { ...params, key: key.id } })).body;
    expect([shown.exhausted_by, shown.budget_used]).toEqual([listed.exhausted_by, listed.budget_used]);
    return { ...listed, exhausted: row.exhausted, refused_at: row.refused_at, used: row.used };
  };
  const permit = await callOf(fixture, key, 0.25);
  expect(await state()).toMatchObject({ exhausted: false, refused_at: null, exhausted_by: null, budget_used: 0.25 });
  // A hold of a running call is not spending.
  await expect(callOf(fixture, key, 0.3)).rejects.toMatchObject({ code: "budget_held" });
  expect(await state()).toMatchObject({ exhausted: false, refused_at: null, exhausted_by: null });
  const at = fixture.clock.now();
  await expect(callOf(fixture, key, 0.6)).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(await state()).toMatchObject({ exhausted: true, refused_at: at, exhausted_by: "key", used: 0.25 });
  permit.release();
  const whole = await callOf(fixture, key, 0.5);
  expect(await state()).toMatchObject({ used: 0.5 });
  whole.release();
});

test("shows a refusal for an hour, for the current amount of the budget, and not in the next period", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  const body = { name: "ci", budget: { usd: 0.5, period: "month" } };
  const { key } = (await fixture.call("member", "keys.create", { params, body })).body;
  const exhausted = async () =>
    (await fixture.call("viewer", "keys.list", { params })).body.data.map((each: KeyWithUsage) => each.exhausted_by);
  await expect(callOf(fixture, key, 0.75)).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(await exhausted()).toEqual(["key"]);
  const raise = { params: { ...params, key: key.id }, body: { budget: { usd: 1, period: "month" } } };
  await fixture.call("admin", "keys.update", raise);
  expect(await exhausted()).toEqual([null]);
  await expect(callOf(fixture, key, 2)).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(await exhausted()).toEqual(["key"]);
  fixture.clock.advance(3_600_000);
  expect(await exhausted()).toEqual([null]);
});

test("shows an exhausted budget of a group or workspace on it and on its keys", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  await fixture.call("member", "keys.create", { params, body: { name: "ci" } });
  const exhausted = async () => {
    const [group] = (await fixture.call("viewer", "groups.list", { params })).body.data;
    const [key] = (await fixture.call("viewer", "keys.list", { params })).body.data;
    const workspace = (await fixture.call("viewer", "workspaces.show", { params })).body;
    const [listed] = (await fixture.call("viewer", "workspaces.list", {})).body.data;
    expect(listed.exhausted_by).toBe(workspace.exhausted_by);
    return [key.exhausted_by, group.exhausted_by, workspace.exhausted_by];
  };
  expect(await exhausted()).toEqual([null, null, null]);
  await fixture.call("administrator", "workspaces.update", { params, body: { budget: { usd: 0, period: "day" } } });
  expect(await exhausted()).toEqual(["workspace", "workspace", "workspace"]);
});

test("lists the limits that apply to a person's calls: workspace, themselves, the groups of their keys, their keys", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  const { member, admin } = fixture.users;
  await fixture.call("administrator", "workspaces.update", { params, body: { budget: { usd: 5, period: "month" } } });
  await fixture.call("admin", "groups.create", { params, body: { name: "cheap", limits: { rpm: 60 } } });
  await fixture.call("admin", "groups.create", { params, body: { name: "others", limits: { rpm: 9 } } });
  const key = (who: "admin" | "member", body: object) =>
    fixture.call(who, "keys.create", { params, body: { ...body } });
  await key("admin", { name: "theirs", owner: member.id, group: "cheap", limits: { tpm: 100 } });
  await key("member", { name: "shared", limits: { tpm: 200 } });
  await key("admin", { name: "of another", owner: admin.id, group: "others", limits: { tpm: 300 } });
  await fixture.people.updateMember(fixture.acme.id, member.id, { limits: { rpm: 7 } }, { actor: "test", ip: null });
  const ask = (who: "member" | "viewer" | "stranger", person: string, more = {}) =>
    fixture.call(who, "limits.list", { params, query: { person, ...more } });
  const rows = (await ask("member", member.id)).body.data;
  expect(rows.map((row: LimitUsageRow) => [row.scope, row.label, row.kind, row.limit])).toEqual([
    ["workspace", "workspace acme", "budget", 5],
    ["person", "person acme/member@example.com", "rpm", 7],
    ["group", "group acme/cheap", "rpm", 60],
    ["key", "key acme/theirs", "tpm", 100],
  ]);
  expect(rows[1].scope_id).toBe(member.id);
  const alone = (await ask("viewer", fixture.users.viewer.id)).body.data;
  expect(alone.map((row: LimitUsageRow) => row.scope)).toEqual(["workspace"]);
  expect((await ask("stranger", member.id)).status).toBe(404);
  expect(await ask("member", member.id, { search: "a" })).toMatchObject({ status: 400, param: "person" });
});

test("lists keys owned by a person, who may edit and revoke them, also keys created by others", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  const { member, admin } = fixture.users;
  const key = async (who: "admin" | "member", body: object) =>
    (await fixture.call(who, "keys.create", { params, body: { ...body } })).body.key;
  const owned = await key("admin", { name: "given", owner: member.id });
  const made = await key("member", { name: "made", owner: member.id });
  const other = await key("admin", { name: "of another", owner: admin.id });
  await key("member", { name: "shared" });
  const ask = (who: "member" | "stranger", owner: string) =>
    fixture.call(who, "keys.list", { params, query: { owner } });
  const names = (await ask("member", member.id)).body.data.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["given", "made"]);
  expect((await ask("stranger", member.id)).status).toBe(404);
  const revoke = (id: string) => fixture.call("member", "keys.revoke", { params: { ...params, key: id } });
  expect((await revoke(other.id)).status).toBe(403);
  const rename = (id: string) =>
    fixture.call("member", "keys.update", { params: { ...params, key: id }, body: { name: "renamed" } });
  expect((await rename(other.id)).status).toBe(403);
  expect((await rename(owned.id)).status).toBe(200);
  for (const { id } of [owned, made]) expect((await revoke(id)).body).toMatchObject({ state: "revoked" });
});

test("shows a user's spending to themselves in each of their workspaces, and never outside", async () => {
  await using fixture = await openLimits();
  const { member, viewer } = fixture.users;
  const now = fixture.clock.now();
  const ask = (who: "member" | "viewer" | "stranger", workspace: string, person: string) =>
    fixture.call(who, "usage.series", {
      params: { workspace },
      query: { from: String(now - 86_400_000), to: String(now), step: "day", person },
    });
  expect((await ask("viewer", "acme", viewer.id)).status).toBe(200);
  expect((await ask("member", "acme", member.id)).body.totals).toMatchObject({ requests: 0, cost_usd: 0 });
  expect((await ask("member", "other", member.id)).status).toBe(404);
  expect((await ask("stranger", "acme", member.id)).status).toBe(404);
  expect((await ask("member", "-", member.id)).status).toBe(403);
});

describe("limits of many objects", () => {
  test("pages through 800 keys, sorts and filters them all, and counts every state consistently", async () => {
    await using fixture = await openLimits();
    const source = { actor: "test", ip: null };
    const { acme: home, controlStore } = fixture;
    for (let n = 0; n < 800; n++) {
      const name = `key ${String(n).padStart(3, "0")}`;
      const budget = { usd: n < 3 ? 0 : 1, period: "day" } as const;
      await controlStore.addKey(
        home.id,
        { name, secret: new Secret(`sk-test-${name}-0123456789`), budget, createdBy: null },
        source,
      );
    }
    await fixture.refresh();
    const list = async (query: object) =>
      (await fixture.call("admin", "limits.list", { params: acme, query: query as never })).body;
    const labels: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ limit: 200, ...(cursor === undefined ? {} : { cursor }) });
      labels.push(...page.data.map(({ label }: LimitUsageRow) => label));
      expect(page.counts).toEqual({ all: 800, at_risk: 3, exhausted: 3, running_out: 0 });
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(labels).size).toBe(800);
    expect(labels).toEqual(labels.toSorted());
    const exhausted = await list({ state: "exhausted", sort: "-used" });
    expect(exhausted.data.map(({ label }: LimitUsageRow) => label)).toEqual(
      [0, 1, 2].map((n) => `key acme/key 00${n}`),
    );
    expect((await list({ sort: "-used", limit: 1 })).data[0].exhausted).toBe(true);
    expect((await list({ search: "key 79" })).counts.all).toBe(10);
  });

  test("orders by place: a workspace, its people, then each group with its keys", async () => {
    await using fixture = await openLimits();
    const limits = { rpm: 60 };
    await fixture.call("administrator", "workspaces.update", { params: acme, body: { limits } });
    for (const name of ["search", "ads"]) {
      await fixture.call("admin", "groups.create", { params: acme, body: { name, limits } });
      await fixture.call("admin", "keys.create", { params: acme, body: { name: `ci ${name}`, group: name, limits } });
    }
    await fixture.call("admin", "members.update", {
      params: { ...acme, user: fixture.users.member.id },
      body: { limits },
    });
    const labels = async (query = {}) =>
      (await fixture.call("admin", "limits.list", { params: acme, query })).body.data.map(
        ({ label }: LimitUsageRow) => label,
      );
    expect(await labels()).toEqual([
      "workspace acme",
      "person acme/member@example.com",
      "group acme/ads",
      "key acme/ci ads",
      "group acme/search",
      "key acme/ci search",
    ]);
    expect(await labels({ scope: "group" })).toEqual(["group acme/ads", "group acme/search"]);
  });
});

describe("a change of one limit", () => {
  const change = (fixture: ConsoleFixture, who: FixtureUser, body: object) =>
    fixture.call(who, "limits.update", { params: acme, body: { ...body } });

  test("keeps the other limits of the object, applies at once, and is in the audit log", async () => {
    await using fixture = await openLimits();
    const body = { name: "ci", limits: { rpm: 60, tpm: 1_000 }, budget: { usd: 1, period: "day", fail: "closed" } };
    const { key } = (await fixture.call("admin", "keys.create", { params: acme, body })).body;
    const object = { scope: "key", scope_id: key.id };
    const seen = (await fixture.audit()).length;
    const raised = await change(fixture, "admin", { ...object, change: { kind: "rpm", limit: 120 } });
    expect(raised.body).toEqual({ limits: { rpm: 120, tpm: 1_000 }, budget: body.budget });
    const richer = await change(fixture, "admin", { ...object, change: { kind: "budget", limit: 5 } });
    expect(richer.body.budget).toEqual({ usd: 5, period: "day", fail: "closed" });
    const query = { scope: "key", scope_id: key.id } as const;
    const { data } = (await fixture.call("viewer", "limits.list", { params: acme, query })).body;
    expect(data.map(({ kind, limit }: LimitUsageRow) => [kind, limit])).toEqual([
      ["budget", 5],
      ["rpm", 120],
      ["tpm", 1_000],
    ]);
    const removed = await change(fixture, "admin", { ...object, change: { kind: "tpm", limit: null } });
    expect(removed.body.limits).toEqual({ rpm: 120 });
    const rows = (await fixture.audit()).slice(seen);
    expect(rows.map(({ actor, action, object: what }) => [actor, action, what])).toEqual(
      Array.from({ length: 3 }, () => ["admin@example.com", "update", "key acme/ci"]),
    );
  });

  test("needs the rights of a change of the object: of a workspace, group, person and key", async () => {
    await using fixture = await openLimits();
    const { body: group } = await fixture.call("admin", "groups.create", { params: acme, body: { name: "ads" } });
    const { body: made } = await fixture.call("admin", "keys.create", {
      params: acme,
      body: { name: "ci", limits: { rpm: 60 } },
    });
    const { body: own } = await fixture.call("member", "keys.create", { params: acme, body: { name: "mine" } });
    const allowed = async (scope: string, id: string) => {
      const users = ["member", "admin", "owner", "administrator"] as const;
      const statuses: string[] = [];
      for (const who of users) {
        const body = { scope, scope_id: id, change: { kind: "rpm", limit: 90 } };
        const { status } = await change(fixture, who, body);
        if (status === 200) statuses.push(who);
        else expect([403, 404]).toContain(status);
      }
      return statuses;
    };
    expect(await allowed("workspace", fixture.acme.id)).toEqual(["administrator"]);
    expect(await allowed("group", group.id)).toEqual(["admin", "owner", "administrator"]);
    expect(await allowed("person", fixture.users.viewer.id)).toEqual(["admin", "owner", "administrator"]);
    expect(await allowed("key", made.key.id)).toEqual(["admin", "owner", "administrator"]);
    expect(await allowed("key", own.key.id)).toEqual(["member", "admin", "owner", "administrator"]);
    expect(
      (
        await change(fixture, "viewer" as FixtureUser, {
          scope: "key",
          scope_id: own.key.id,
          change: { kind: "rpm", limit: 1 },
        })
      ).status,
    ).toBe(403);
  });

  test("finds no object of another workspace, and refuses an invalid amount", async () => {
    await using fixture = await openLimits();
    const { body } = await fixture.call("stranger", "keys.create", {
      params: { workspace: "other" },
      body: { name: "theirs", limits: { rpm: 60 } },
    });
    const theirs = { scope: "key", scope_id: body.key.id, change: { kind: "rpm", limit: 1 } };
    expect((await change(fixture, "owner", theirs)).status).toBe(404);
    const other = { scope: "workspace", scope_id: fixture.other.id, change: { kind: "rpm", limit: 1 } };
    expect((await change(fixture, "administrator", other)).status).toBe(404);
    const own = { scope: "workspace", scope_id: fixture.acme.id };
    for (const wrong of [
      { kind: "rpm", limit: 0 },
      { kind: "rpm", limit: 1.5 },
      { kind: "budget", limit: -1 },
    ]) {
      expect((await change(fixture, "administrator", { ...own, change: wrong })).status).toBe(400);
    }
  });
});

test("lists limits in shadow mode, never as exhausted, and keeps the mode when an amount changes", async () => {
  await using fixture = await openLimits();
  const params = { workspace: "acme" };
  const budget = { usd: 0, period: "month", enforce: false } as const;
  const limits = { rpm: 60, enforce: false } as const;
  const { body: made } = await fixture.call("member", "keys.create", { params, body: { name: "ci", limits, budget } });
  expect(made.key).toMatchObject({ limits, budget });
  const { body: listed } = await fixture.call("admin", "limits.list", { params });
  expect(listed.data.map((row: LimitUsageRow) => [row.kind, row.enforce, row.exhausted])).toEqual([
    ["budget", false, false],
    ["rpm", false, false],
  ]);
  const change = { kind: "budget", limit: 5 } as const;
  const changed = await fixture.call("admin", "limits.update", {
    params,
    body: { scope: "key", scope_id: made.key.id, change },
  });
  expect(changed.body).toEqual({ limits, budget: { ...budget, usd: 5 } });
});
