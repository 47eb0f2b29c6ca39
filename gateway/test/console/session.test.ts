import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { makeAdminTokenSecret } from "#identity/index.ts";
import type { LedgerStore, ReportStore } from "#ports/index.ts";
import { createReportStore } from "#storage/index.ts";
import { ledgerEntry, makeKey, newKey, silentObserver } from "../conformance/store-ground.ts";
import { type ConsoleGround, groundOrigin, openConsoleGround } from "../console-ground.ts";

/** How often each kind of list was read. */
interface ReadCounts {
  keys: number;
  calls: number;
}

async function openSessionGround(reads: ReadCounts = { keys: 0, calls: 0 }): Promise<ConsoleGround> {
  const opened: ReportStore[] = [];
  const ground = await openConsoleGround((gateway) => {
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
    return { version: "1.2.3", reports: { keys }, ledgerStore: { page } };
  });
  return {
    ...ground,
    async [Symbol.asyncDispose]() {
      for (const reports of opened) await reports.close();
      await ground[Symbol.asyncDispose]();
    },
  };
}

test("an anonymous visitor learns how to sign in, and nothing about users or content", async () => {
  await using ground = await openSessionGround();
  const { status, body } = await ground.call("nobody", "session.show");
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
    public_url: groundOrigin,
    first_steps: { provider: false, model: false, key: false, call: false },
  });
});

test("a user sees themselves with their workspaces and roles, and an administrator every workspace", async () => {
  await using ground = await openSessionGround();
  const { acme, other } = ground;
  const show = async (who: Parameters<ConsoleGround["call"]>[0]) => (await ground.call(who, "session.show")).body;
  expect(await show("admin")).toMatchObject({
    user: { email: "admin@example.com", administrator: false },
    via: "session",
    fresh: true,
    workspaces: [{ id: acme.id, slug: "acme", name: "Acme", role: "admin" }],
  });
  expect((await show({ stale: "admin" })).fresh).toBe(false);
  expect((await show("newcomer")).workspaces).toEqual([]);
  await ground.people.setMember(other.id, ground.users.administrator.id, "viewer", { actor: "test", ip: null });
  const administrator = await show("administrator");
  expect(administrator.user.administrator).toBe(true);
  // The user's own workspaces come first.
  expect(administrator.workspaces).toMatchObject([
    { slug: "other", role: "owner" },
    { slug: "acme", role: "owner" },
  ]);
});

test("a token sees its creator's name and only its own rights", async () => {
  await using ground = await openSessionGround();
  const secret = makeAdminTokenSecret(new Uint8Array(32).fill(9));
  const grant = { administrator: false, workspaceId: ground.acme.id, role: "viewer" } as const;
  const digest = ground.vault.digest(secret);
  const ownerId = ground.users.administrator.id;
  const token = { name: "ci", grant, ownerId, digest, prefix: "", expiresAt: null };
  await ground.people.createToken(token, { actor: "test", ip: null });
  const { body } = await ground.call({ token: secret }, "session.show");
  expect(body).toMatchObject({
    user: { email: "administrator@example.com", administrator: false },
    via: "token",
    workspaces: [{ slug: "acme", role: "viewer" }],
  });
  expect(body.workspaces).toHaveLength(1);
});

test("limits the workspaces of one answer and reports how many more exist", async () => {
  await using ground = await openSessionGround();
  const extra = Array.from({ length: bounds.sessionWorkspacesMax }, (_, index) => index);
  const row = await ground.database.kysely
    .selectFrom("workspaces")
    .selectAll()
    .where("id", "=", ground.acme.id)
    .executeTakeFirstOrThrow();
  const rows = extra.map((index) => ({ ...row, id: `ws_${index}`, slug: `more-${index}` }));
  await ground.database.kysely.insertInto("workspaces").values(rows).execute();
  await ground.refresh();
  const { body } = await ground.call("administrator", "session.show");
  expect([body.workspaces.length, body.workspaces_more]).toEqual([bounds.sessionWorkspacesMax, 2]);
});

test("completes the first steps one by one, ignores the demo, and does not check completed steps again", async () => {
  const reads: ReadCounts = { keys: 0, calls: 0 };
  await using ground = await openSessionGround(reads);
  const { controlStore, ledgerStore } = ground;
  const steps = async () => {
    await ground.refresh();
    return (await ground.call("viewer", "session.show")).body.first_steps;
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
  await makeKey(ground, newKey("first"), "test");
  await ledgerStore.insert([ledgerEntry("one")]);
  expect(await steps()).toEqual({ provider: true, model: true, key: true, call: true });
  const before = { ...reads };
  expect(await steps()).toEqual({ provider: true, model: true, key: true, call: true });
  expect(reads).toEqual(before);
});

test("setup is required until there is an administrator", async () => {
  await using ground = await openSessionGround();
  const { kysely } = ground.database;
  await kysely.updateTable("auth_users").set({ administrator: 0 }).execute();
  const needed = async () => (await ground.call("nobody", "session.show")).body.setup_needed;
  expect(await needed()).toBe(true);
  await ground.people.updateUser(ground.users.owner.id, { administrator: true }, { actor: "test", ip: null });
  expect(await needed()).toBe(false);
});
