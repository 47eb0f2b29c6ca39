import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { makeAdminTokenSecret } from "#identity/index.ts";
import type { LedgerStore, ReportStore } from "#ports/index.ts";
import { createReportStore } from "#storage/index.ts";
import { ledgerEntry, makeKey, newKey, silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, fixtureOrigin, openConsoleFixture } from "../console-fixture.ts";

/** How often each kind of list was read. */
interface ReadCounts {
  keys: number;
  calls: number;
}

async function openSessionFixture(reads: ReadCounts = { keys: 0, calls: 0 }): Promise<ConsoleFixture> {
  const opened: ReportStore[] = [];
  const fixture = await openConsoleFixture((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    opened.push(reports);
    const keys: ReportStore["keys"] = (filter, cursor, limit) => {
      reads.keys += 1;
      return reports.keys(filter, cursor, limit);
    };
    const page: LedgerStore["page"] = (filter, cursor, limit) => {
      reads.calls += 1;
      return gateway.ledgerStore.page(filter, cursor, limit);
    };
    const videos = { page: async () => ({ tasks: [], next: null }) };
    const assets = { anyGroup: async () => gateway.configSnapshot().workspaces.size > 2 };
    return { version: "1.2.3", reports: { keys }, ledgerStore: { page }, videos, assets };
  });
  return {
    ...fixture,
    async [Symbol.asyncDispose]() {
      for (const reports of opened) await reports.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

test("an anonymous visitor learns how to sign in, and nothing about users or content", async () => {
  await using fixture = await openSessionFixture();
  const { status, body } = await fixture.call("nobody", "session.show");
  expect(status).toBe(200);
  expect(body).toEqual({
    user: null,
    via: null,
    fresh: false,
    workspaces: [],
    methods: { password: true, passkey: true, oidc: [] },
    setup_needed: false,
    version: null,
    demo: true,
    public_url: fixtureOrigin,
    brand: { name: "Sluice", accent: "", logo: "" },
    announcement: "",
    media: false,
    first_steps: { provider: false, model: false, key: false, call: false },
  });
});

test("a user sees themselves with their workspaces and roles, and an administrator every workspace", async () => {
  await using fixture = await openSessionFixture();
  const { acme, other } = fixture;
  const show = async (who: Parameters<ConsoleFixture["call"]>[0]) => (await fixture.call(who, "session.show")).body;
  expect(await show("admin")).toMatchObject({
    user: { email: "admin@example.com", administrator: false },
    via: "session",
    fresh: true,
    workspaces: [{ id: acme.id, slug: "acme", name: "Acme", role: "admin" }],
  });
  expect((await show({ stale: "admin" })).fresh).toBe(false);
  expect((await show("newcomer")).workspaces).toEqual([]);
  await fixture.people.setMember(other.id, fixture.users.administrator.id, "viewer", { actor: "test", ip: null });
  const administrator = await show("administrator");
  expect(administrator.user.administrator).toBe(true);
  // The user's own workspaces come first.
  expect(administrator.workspaces).toMatchObject([
    { slug: "other", role: "owner" },
    { slug: "acme", role: "owner" },
  ]);
});

test("a token sees its creator's name and only its own rights", async () => {
  await using fixture = await openSessionFixture();
  const secret = makeAdminTokenSecret(new Uint8Array(32).fill(9));
  const grant = { administrator: false, workspaceId: fixture.acme.id, role: "viewer" } as const;
  const digest = fixture.vault.digest(secret);
  const ownerId = fixture.users.administrator.id;
  const token = { name: "ci", grant, ownerId, digest, prefix: "", expiresAt: null };
  await fixture.people.createToken(token, { actor: "test", ip: null });
  const { body } = await fixture.call({ token: secret }, "session.show");
  expect(body).toMatchObject({
    user: { email: "administrator@example.com", administrator: false },
    via: "token",
    workspaces: [{ slug: "acme", role: "viewer" }],
  });
  expect(body.workspaces).toHaveLength(1);
});

test("limits the workspaces of one answer and reports how many more exist", async () => {
  await using fixture = await openSessionFixture();
  const extra = Array.from({ length: bounds.sessionWorkspacesMax }, (_, index) => index);
  const row = await fixture.database.kysely
    .selectFrom("workspaces")
    .selectAll()
    .where("id", "=", fixture.acme.id)
    .executeTakeFirstOrThrow();
  const rows = extra.map((index) => ({ ...row, id: `ws_${index}`, slug: `more-${index}` }));
  await fixture.database.kysely.insertInto("workspaces").values(rows).execute();
  await fixture.refresh();
  const { body } = await fixture.call("administrator", "session.show");
  expect([body.workspaces.length, body.workspaces_more]).toEqual([bounds.sessionWorkspacesMax, 2]);
});

test("completes the first steps one by one, ignores the demo, and does not check completed steps again", async () => {
  const reads: ReadCounts = { keys: 0, calls: 0 };
  await using fixture = await openSessionFixture(reads);
  const { controlStore, ledgerStore } = fixture;
  const steps = async () => {
    await fixture.refresh();
    return (await fixture.call("viewer", "session.show")).body.first_steps;
  };
  const demo = { providers: [{ id: "spare", kind: "demo" }] };
  const real = { id: "main", kind: "openai", api_key: "upstream-secret" };
  const model = (provider: string) => [{ name: "gpt-5", deployments: [{ provider }] }];
  await controlStore.apply({ ...demo, models: model("spare") }, "test");
  expect(await steps()).toEqual({ provider: false, model: false, key: false, call: false });
  await controlStore.apply({ providers: [...demo.providers, real], models: model("spare") }, "test");
  expect(await steps()).toMatchObject({ provider: true, model: false });
  await controlStore.apply({ providers: [real], models: model("main") }, "test");
  expect(await steps()).toEqual({ provider: true, model: true, key: false, call: false });
  await makeKey(fixture, newKey("first"), "test");
  await ledgerStore.insert([ledgerEntry("one")]);
  expect(await steps()).toEqual({ provider: true, model: true, key: true, call: true });
  const before = { ...reads };
  expect(await steps()).toEqual({ provider: true, model: true, key: true, call: true });
  expect(reads).toEqual(before);
});

test("has media with a video model, also of the demo, or with assets", async () => {
  await using fixture = await openSessionFixture();
  const media = async () => {
    await fixture.refresh();
    return (await fixture.call("viewer", "session.show")).body.media;
  };
  const demo = { id: "demo", kind: "demo" };
  const film = { name: "film", type: "video", deployments: [{ provider: "demo" }] };
  await fixture.controlStore.apply({ providers: [demo], models: [film] } as never, "test");
  expect(await media()).toBe(true);
  await fixture.controlStore.apply({ providers: [demo], models: [] }, "test");
  expect(await media()).toBe(false);
  await fixture.controlStore.addWorkspace({ slug: "third", name: "Third" }, { actor: "test", ip: null });
  expect(await media()).toBe(true);
});

test("setup is required until there is an administrator", async () => {
  await using fixture = await openSessionFixture();
  const { kysely } = fixture.database;
  await kysely.updateTable("auth_users").set({ administrator: 0 }).execute();
  const needed = async () => (await fixture.call("nobody", "session.show")).body.setup_needed;
  expect(await needed()).toBe(true);
  await fixture.people.updateUser(fixture.users.owner.id, { administrator: true }, { actor: "test", ip: null });
  expect(await needed()).toBe(false);
});
