import { expect, test } from "bun:test";
import { bounds, Secret } from "#core/index.ts";
import { type AgentGrant, createAgentStore } from "#directory/index.ts";
import { openSession } from "../console/people-fixture.ts";
import { entraUser, openScimFixture, patch, type ScimFixture } from "./scim-fixture.ts";

const by = { actor: "test", ip: null };
const off = patch({ op: "Replace", path: "active", value: "False" });
const on = patch({ op: "Replace", path: "active", value: "True" });

/** A user created by SCIM who is a member with sessions, agents, tokens, keys and links. */
async function activeUser(fixture: ScimFixture) {
  const { database, people, clock } = fixture;
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada"));
  await people.setMember(fixture.acme.id, id, "admin", by);
  await openSession(fixture, id);
  const agents = createAgentStore(fixture);
  await agents.addDevice({
    deviceDigest: "d",
    userDigest: "u",
    client: "agent/1",
    ip: "192.0.2.7",
    expiresAt: clock.now() + bounds.deviceCodeMs,
  });
  await agents.approve("u", { userId: id, workspaceId: fixture.acme.id }, by);
  const { sessionId } = (await agents.poll("d")) as AgentGrant;
  const token = {
    name: "script",
    grant: { administrator: false, workspaceId: fixture.acme.id, role: "admin" } as const,
    ownerId: id,
    digest: "token of ada",
    prefix: "",
    expiresAt: null,
  };
  await people.createToken(token, by);
  await people.createReset(id, "reset of ada", clock.now() + 60_000, by);
  const key = await fixture.controlStore.addKey(
    fixture.acme.id,
    { name: "ci", group: "default", createdBy: id, secret: new Secret("sk-sluice-of-ada") },
    by,
  );
  const left = async () => ({
    sessions: (await database.kysely.selectFrom("auth_sessions").select("id").where("user_id", "=", id).execute())
      .length,
    agents: (await agents.sessions({ userId: id })).length,
    token: (await people.tokenActor("token of ada")) !== null,
    refreshed: (await agents.refresh(sessionId, 1)) !== null,
    key: (await database.kysely.selectFrom("api_keys").select("enabled").where("id", "=", key.id).executeTakeFirst())
      ?.enabled,
    rights: (await people.rightsOf(id)) !== null,
  });
  return { id, left };
}

test("deactivation invalidates a password link sent to the user's address", async () => {
  await using fixture = await openScimFixture();
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada"));
  const link = () => fixture.people.createReset(id, "reset of ada", fixture.clock.now() + 60_000, by);
  await link();
  await fixture.ok("PATCH", `/Users/${id}`, patch({ op: "replace", path: "displayName", value: "Ada L." }));
  expect((await fixture.people.takeReset("reset of ada"))?.userId).toBe(id);
  await link();
  const moved = patch({ op: "replace", path: "emails", value: [{ value: "ada.l@corp.example" }] });
  await fixture.ok("PATCH", `/Users/${id}`, moved);
  expect(await fixture.people.takeReset("reset of ada")).toBeNull();
});

test.each([
  ["switched off", "PATCH", off],
  ["removed", "DELETE", undefined],
] as const)(
  "a user who is %s loses sessions, agents, tokens, keys and links at once, on every process",
  async (_, method, body) => {
    await using fixture = await openScimFixture();
    const { id, left } = await activeUser(fixture);
    expect(await left()).toEqual({ sessions: 1, agents: 1, token: true, refreshed: true, key: 1, rights: true });
    const { seq } = await fixture.database.kysely
      .selectFrom("changes")
      .select((eb) => eb.fn.max("seq").as("seq"))
      .executeTakeFirstOrThrow();
    await fixture.ok(method, `/Users/${id}`, body);
    const nothing = { sessions: 0, agents: 0, token: false, refreshed: false, key: 0, rights: false };
    expect(await left()).toEqual(nothing);
    expect(await fixture.people.takeReset("reset of ada")).toBeNull();
    const changes = await fixture.database.kysely.selectFrom("changes").select("kind").where("seq", ">", seq).execute();
    // The agent's sign-in, its person, and the key.
    expect(changes.filter(({ kind }) => kind === "key").length).toBeGreaterThanOrEqual(3);
    const rows = await fixture.audit();
    expect(rows.at(-1)?.actor).toBe("SCIM (token directory)");
    expect(
      rows.filter(({ actor }) => actor.startsWith("SCIM")).map(({ action, object }) => `${action} ${object}`),
    ).toContain("update key acme/ci");

    if (method !== "PATCH") return;
    await fixture.ok("PATCH", `/Users/${id}`, on);
    // The user may sign in again, but nothing from before is restored.
    expect(await left()).toEqual({ ...nothing, rights: true });
  },
);

test("a user disabled manually stays so, whatever the directory sends; its answers show the real state", async () => {
  await using fixture = await openScimFixture();
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada"));
  const before = await fixture.send("GET", `/Users/${id}`);
  await fixture.people.updateUser(id, { disabled: true }, by);
  const after = await fixture.send("GET", `/Users/${id}`, undefined, {
    "if-none-match": before.headers.get("etag") ?? "",
  });
  expect([after.status, after.body.active]).toEqual([200, false]);
  expect((await fixture.ok("PATCH", `/Users/${id}`, on)).active).toBe(false);
  expect((await fixture.ok("PATCH", `/Users/${id}`, off)).active).toBe(false);
  await fixture.people.updateUser(id, { disabled: false }, by);
  expect((await fixture.ok("PATCH", `/Users/${id}`, off)).active).toBe(false);
  expect((await fixture.ok("PATCH", `/Users/${id}`, on)).active).toBe(true);
});

test("a returning user is the same person with their history, but without earlier sessions and keys", async () => {
  await using fixture = await openScimFixture();
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada"));
  await fixture.ok("DELETE", `/Users/${id}`);
  expect((await fixture.ok("GET", "/Users")).totalResults).toBe(0);
  const again = await fixture.ok("POST", "/Users", entraUser("ada"));
  expect([again.id, again.active]).toEqual([id, true]);
  expect(await fixture.people.user(id)).toMatchObject({ disabled: false });
});

test("the last administrator is not deactivated, and deactivating a token's maker ends the token", async () => {
  await using fixture = await openScimFixture();
  const { id } = await fixture.ok("POST", "/Users", entraUser("ada"));
  await fixture.people.updateUser(id, { administrator: true }, by);
  await fixture.people.updateUser(fixture.users.administrator.id, { administrator: false }, by);
  // Its maker is no longer an administrator.
  await fixture.refused("GET", "/Users", undefined, 401, null);
  await fixture.people.updateUser(fixture.users.administrator.id, { administrator: true, disabled: false }, by);
  expect((await fixture.ok("PATCH", `/Users/${id}`, off)).active).toBe(false);
  expect(await fixture.people.user(id)).toMatchObject({ administrator: true, disabled: true });
});

test("an existing user is connected by address, unless they are an administrator or from the config file", async () => {
  await using fixture = await openScimFixture();
  const of = (name: string) =>
    entraUser(name, { userName: `${name}@example.com`, emails: undefined, displayName: "Other" });
  const member = await fixture.ok("POST", "/Users", of("member"));
  expect(member.id).toBe(fixture.users.member.id);
  expect(await fixture.people.user(member.id)).toMatchObject({ name: "Other", workspaces: [{ role: "member" }] });
  await fixture.refused("POST", "/Users", of("member"), 409, "uniqueness");
  await fixture.refused("POST", "/Users", of("administrator"), 409, "uniqueness");
  expect(await fixture.people.user(fixture.users.administrator.id)).toMatchObject({ name: "administrator" });
  const files = JSON.stringify({ users: [fixture.users.owner.id], tokens: [], oidc: [] });
  await fixture.database.kysely
    .insertInto("settings")
    .values({ name: "config-file.people", value: files, managed_by: "system" })
    .execute();
  await fixture.refused("POST", "/Users", of("owner"), 409, null);
  // A user cannot change to an address in use either.
  const moved = patch({ op: "replace", path: "emails", value: [{ value: "administrator@example.com" }] });
  await fixture.refused("PATCH", `/Users/${member.id}`, moved, 409, "uniqueness");
});
