import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { Rehearsal, RehearsalWithResult } from "@sluice/contract";
import { RehearsalStore, Rehearsals } from "#rehearsal/index.ts";
import { until } from "../../../test/until.ts";
import { ledgerEntry, silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, type FixtureAnswer, openConsoleFixture, type Who } from "../console-fixture.ts";

const hourMs = 3_600_000;
const money = { costNanoUsd: 100_000_000, reservedNanoUsd: 0 };

interface Fixture extends ConsoleFixture {
  readonly rehearsals: Rehearsals;
  start(who: Who, change: object, fields?: object): Promise<FixtureAnswer>;
  /** Waits until it is over. */
  ended(who: Who, id: string): Promise<RehearsalWithResult>;
}

/** The key `ci` of acme made a call each minute of the last hour, each of 0.10 USD. */
async function openFixture(calls = 60): Promise<Fixture> {
  let rehearsals = null as Rehearsals | null;
  const fixture = await openConsoleFixture(({ database, databasePath, clock, ids, configSnapshot }) => {
    const slugOf = (id: string) => configSnapshot().workspaces.get(id)?.slug ?? id;
    const store = new RehearsalStore({ database, clock, ids, process: "proc_1", slugOf });
    const place = { kind: "sqlite", path: databasePath } as const;
    rehearsals = new Rehearsals({ place, database, store, clock, observer: silentObserver, configSnapshot });
    return {
      rehearsals: async () => rehearsals as Rehearsals,
      randomBytes,
      changesSeen: async () => undefined,
    } as never;
  });
  const { acme, other, users, clock, ledgerStore } = fixture;
  const keyOf = async (workspace: string, who: Who) =>
    (await fixture.call(who, "keys.create", { params: { workspace }, body: { name: "ci" } as never })).body.key;
  const own = await keyOf("acme", "admin");
  await keyOf("other", "stranger");
  await ledgerStore.insert(
    Array.from({ length: calls }, (_, n) => {
      const at = clock.now() - hourMs + (n * hourMs) / calls;
      const place = { workspaceId: acme.id, groupId: own.group.id, keyId: own.id, person: users.member.id };
      return ledgerEntry(String(n).padStart(6, "0"), { at, endedAt: at + 500, ...place, ...money });
    }),
  );
  await ledgerStore.insert([ledgerEntry("theirs", { at: clock.now() - 1_000, workspaceId: other.id })]);
  const jobs = rehearsals as unknown as Rehearsals;
  return {
    ...fixture,
    rehearsals: jobs,
    start: (who, change, fields = {}) =>
      fixture.call(who, "rehearsals.create", { body: { change, workspace: "acme", ...fields } }),
    ended: async (who, id) =>
      await until(async () => {
        const { body } = await fixture.call(who, "rehearsals.get", { params: { rehearsal: id } });
        return body.state === "waiting" || body.state === "running" ? null : (body as RehearsalWithResult);
      }),
    async [Symbol.asyncDispose]() {
      await jobs.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

const dailyBudget = { workspaces: [{ slug: "acme", keys: [{ name: "ci", budget: { usd: 2, period: "total" } }] }] };

test("a rehearsal counts the calls that a budget would have refused, and the money", async () => {
  await using fixture = await openFixture();
  const audit = await fixture.audit();
  const started = await fixture.start("admin", dailyBudget);
  expect(started.status).toBe(202);
  expect(started.body).toMatchObject({ state: "waiting", workspace: { slug: "acme" }, change: dailyBudget });
  const done = await fixture.ended("admin", started.body.id);
  expect(done).toMatchObject({ state: "done", progress: 1, entries_read: 60, problem: null });
  const { key, ...rule } = { key: "key acme/ci", limit: "budget", scope: "key", changed: true, calls: 40 };
  expect(done.result).toMatchObject({
    ...{ calls: 60, refused: 40, refused_anyway: 0, keys_touched: 1 },
    ...{ recorded_nano_usd: "6000000000", rehearsed_nano_usd: "2000000000", difference_nano_usd: "-4000000000" },
    ...{ refused_nano_usd: "4000000000", repriced_nano_usd: "0" },
    rules: [{ ...rule, label: key, recorded_nano_usd: "4000000000" }],
    first: { request_id: "req_000020", key: { name: "ci" }, limit: "budget", label: key },
    worst: { refused: 1 },
  });
  expect(done.result?.unknown.map(({ code }) => code)).toEqual(["holds_estimated", "callers_react"]);
  // Nothing was changed.
  expect(await fixture.audit()).toEqual(audit);
  expect((await fixture.controlStore.configSnapshot()).version).toBe(fixture.configSnapshot().version);
});

test("a rehearsal is visible to all users who may make its change", async () => {
  await using fixture = await openFixture();
  const { id } = (await fixture.start("admin", dailyBudget)).body as Rehearsal;
  const done = await fixture.ended("admin", id);
  const read = (who: Who, rehearsal = id) => fixture.call(who, "rehearsals.get", { params: { rehearsal } });
  for (const who of ["owner", "administrator"] as const) {
    const { status, body } = await read(who);
    expect([status, body]).toEqual([200, done]);
    expect(body.created_by).toMatchObject({ id: fixture.users.admin.id, email: "admin@example.com" });
  }
  for (const who of ["member", "stranger"] as const) expect((await read(who)).status).not.toBe(200);
  expect((await read("stranger")).status).toBe(404);
  // Changes of the installation, rehearsed on calls of one workspace.
  const changes = [
    { budgets: [{ name: "all", usd: 1, period: "day", match: { workspaces: ["acme"] } }] },
    { workspaces: [{ slug: "acme", limits: { rpm: 1 } }] },
    { guardrails: [{ name: "keys", check: { kind: "credentials" }, action: "block" }] },
  ];
  for (const change of changes) {
    const started = await fixture.start("administrator", change);
    expect(started.status).toBe(202);
    await fixture.ended("administrator", started.body.id);
    expect((await read("admin", started.body.id)).status).toBe(404);
    const cancelled = await fixture.call("admin", "rehearsals.cancel", { params: { rehearsal: started.body.id } });
    expect(cancelled.status).toBe(404);
  }
  const lists = await Promise.all(
    (["admin", "owner"] as const).map((who) => fixture.call(who, "rehearsals.list", { query: {} })),
  );
  expect(lists.map(({ body }) => body.data.map((each: Rehearsal) => each.id))).toEqual([[id], []]);
});

test("a rehearsal is hidden from its creator without the rights for it", async () => {
  await using fixture = await openFixture();
  const ofAcme = (await fixture.start("administrator", dailyBudget)).body as Rehearsal;
  const ofAll = (await fixture.start("administrator", dailyBudget, { workspace: undefined })).body as Rehearsal;
  await fixture.ended("administrator", ofAll.id);
  const body = { name: "narrow", workspace: "other", role: "admin" } as never;
  const { secret } = (await fixture.call("administrator", "tokens.create", { body })).body;
  const narrow = { token: secret } as Who;
  for (const { id } of [ofAcme, ofAll]) {
    const params = { rehearsal: id };
    expect((await fixture.call(narrow, "rehearsals.get", { params })).status).toBe(404);
    expect((await fixture.call(narrow, "rehearsals.cancel", { params })).status).toBe(404);
  }
  const listed = await fixture.call(narrow, "rehearsals.list", { query: {} });
  expect([listed.status, listed.body.data]).toEqual([200, []]);
});

test("admins rehearse only what they may change, in their workspace", async () => {
  await using fixture = await openFixture();
  const refused = async (who: Who, change: object, fields: object = {}) => {
    const { status, code, param } = await fixture.start(who, change, fields);
    return [status, code, param];
  };
  const ofWorkspace = { workspaces: [{ slug: "acme", limits: { rpm: 1 } }] };
  expect(await refused("admin", ofWorkspace)).toEqual([403, "forbidden", null]);
  expect(await refused("admin", dailyBudget, { workspace: undefined })).toEqual([400, "invalid_request", "workspace"]);
  expect(await refused("admin", { workspaces: [{ slug: "other", keys: [] }] })).toEqual([403, "forbidden", null]);
  expect(await refused("admin", dailyBudget, { workspace: "other" })).toEqual([404, "not_found", "workspace"]);
  expect(await refused("member", dailyBudget)).toEqual([403, "forbidden", null]);
  const theirs = { users: [{ email: "member@example.com", workspaces: [{ workspace: "other", limits: {} }] }] };
  expect(await refused("admin", theirs)).toEqual([403, "forbidden", null]);
  const budget = { name: "new", usd: 2, period: "total" };
  expect(await refused("admin", { budgets: [budget] })).toEqual([403, "forbidden", null]);
  expect(await refused("admin", { workspaces: [{ slug: "other", budgets: [budget] }] })).toEqual([
    ...[403, "forbidden", null],
  ]);
  const own = await fixture.start("admin", { workspaces: [{ slug: "acme", budgets: [budget] }] });
  expect((await fixture.ended("admin", own.body.id)).result).toMatchObject({
    ...{ refused: 40, rules: [{ scope: "policy", label: "policy new", changed: true }] },
  });
  // It would count calls that are not replayed.
  const wide = await refused("administrator", { budgets: [budget] });
  expect(wide).toEqual([400, "invalid_request", "change.budgets[0]"]);
  const all = await fixture.start("administrator", ofWorkspace, { workspace: undefined });
  expect([all.status, all.body.workspace]).toEqual([202, null]);
  expect((await fixture.ended("administrator", all.body.id)).result?.calls).toBe(60);
});

test("an unknown name is an error with its path", async () => {
  await using fixture = await openFixture();
  const wrong = async (change: object, fields: object = { workspace: undefined }) => {
    const { status, param, body } = await fixture.start("administrator", change, fields);
    expect(status).toBe(400);
    return [param, body.error.message];
  };
  const workspaces = (fields: object) => ({ workspaces: [{ slug: "acme", ...fields }] });
  const keyPath = "change.workspaces[0].keys[1].name";
  expect(await wrong(workspaces({ keys: [{ name: "ci" }, { name: "cj" }] }))).toEqual([
    keyPath,
    `\`${keyPath}\`: there is no key "cj".`,
  ]);
  expect(await wrong(workspaces({ groups: [{ name: "none" }] }))).toContain("change.workspaces[0].groups[0].name");
  expect(await wrong({ workspaces: [{ slug: "acne" }] })).toContain("change.workspaces[0].slug");
  expect(await wrong(workspaces({ keys: [{ name: "ci" }, { name: "ci" }] }))).toContain(keyPath);
  expect(await wrong(workspaces({ limits: { rps: 1 } }))).toContain("change.workspaces.0.limits");
  expect(await wrong({})).toContain("change");
  const now = fixture.clock.now();
  expect(await wrong(dailyBudget, { from: now, to: now })).toContain("from");
  expect(await wrong(dailyBudget, { from: 0, to: now })).toContain("from");
});

test("a rehearsal that waits or runs can be canceled, and each user has at most three", async () => {
  await using fixture = await openFixture(20_000);
  const jobs = await Promise.all(Array.from({ length: 3 }, () => fixture.start("admin", dailyBudget)));
  const full = await fixture.start("admin", dailyBudget);
  expect([full.status, full.code]).toEqual([429, "rate_limit_exceeded"]);
  for (const { body } of jobs) {
    const cancelled = await fixture.call("admin", "rehearsals.cancel", { params: { rehearsal: body.id } });
    expect(["cancelled", "done"]).toContain(cancelled.body.state);
  }
  const last = jobs.at(-1)?.body.id;
  expect((await fixture.ended("admin", last)).state).toBe("cancelled");
  const next = await fixture.start("admin", dailyBudget);
  expect((await fixture.ended("admin", next.body.id)).state).toBe("done");
});

test("a rehearsal expires after a day, and fails if its process has ended", async () => {
  await using fixture = await openFixture();
  const { id } = (await fixture.start("admin", dailyBudget)).body;
  await fixture.ended("admin", id);
  await fixture.rehearsals.close();
  const store = fixture.rehearsals.store;
  const ownerId = fixture.users.admin.id;
  const lost = await store.create({ ownerId, workspaceId: null, change: {}, from: 0, to: 1 });
  fixture.clock.advance(150_000);
  expect(await store.find(lost.id)).toMatchObject({ state: "failed", result: null });
  fixture.clock.advance(24 * hourMs);
  expect((await fixture.call("admin", "rehearsals.get", { params: { rehearsal: id } })).status).toBe(404);
});
