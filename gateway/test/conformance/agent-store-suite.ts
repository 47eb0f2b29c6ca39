import { describe, expect, test } from "bun:test";
import { bounds, personDigest, sessionDigest } from "#core/index.ts";
import type { AgentGrant, AgentStore, ControlStore, PeopleStore } from "#directory/index.ts";
import type { Database } from "#storage/index.ts";
import type { FakeClock } from "../fake-clock.ts";

export interface AgentFixture extends AsyncDisposable {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly agents: AgentStore;
  readonly people: PeopleStore;
  readonly controlStore: ControlStore;
  readonly acme: string;
  user(name: string): Promise<string>;
}

const by = { actor: "ada@example.com", ip: "192.0.2.1" };

/** Rules of agent sign-ins that hold on every database. */
export function agentStoreSuite(name: string, make: () => Promise<AgentFixture>): void {
  describe(`agent sign-ins in ${name}`, () => {
    deviceTests(make);
    sessionTests(make);
    leaverTests(make);
    settingsTests(make);
  });
}

function deviceTests(make: () => Promise<AgentFixture>): void {
  test("finds a device by its code until the code expires, by a clock that no other process waits for", async () => {
    await using fixture = await make();
    await addDevice(fixture, "one");
    expect(await fixture.agents.waitingDevice("user one")).toMatchObject({ client: "agent/1", ip: "192.0.2.7" });
    expect(await fixture.agents.poll("one")).toBe("pending");
    fixture.clock.advance(bounds.deviceCodeMs - 1);
    expect(await fixture.agents.poll("one")).toBe("pending");
    fixture.clock.advance(1);
    expect(await fixture.agents.poll("one")).toBe("unknown");
    expect(await fixture.agents.waitingDevice("user one")).toBeNull();
    expect(
      await fixture.agents.approve("user one", { userId: await member(fixture), workspaceId: fixture.acme }, by),
    ).toBe(false);
  });

  test("limits how often a device polls, with a small tolerance", async () => {
    await using fixture = await make();
    await addDevice(fixture, "one");
    expect(await fixture.agents.poll("one")).toBe("pending");
    fixture.clock.advance(bounds.devicePollMs - bounds.devicePollEarlyMs - 1);
    expect(await fixture.agents.poll("one")).toBe("too_soon");
    fixture.clock.advance(1);
    expect(await fixture.agents.poll("one")).toBe("pending");
  });

  test("neither delays devices when the clock is set back, nor accepts expired ones when it is set forward", async () => {
    await using fixture = await make();
    await addDevice(fixture, "one");
    expect(await fixture.agents.poll("one")).toBe("pending");
    fixture.clock.jump(-3_600_000);
    expect(await fixture.agents.poll("one")).toBe("pending");
    expect(await fixture.agents.poll("one")).toBe("too_soon");
    await fixture.agents.approve("user one", { userId: await member(fixture), workspaceId: fixture.acme }, by);
    expect(await fixture.agents.poll("one")).toMatchObject({ generation: 1 });
    expect(await fixture.agents.poll("one")).toBe("unknown");
    await addDevice(fixture, "two");
    fixture.clock.jump(3_600_000);
    expect(await fixture.agents.poll("two")).toBe("unknown");
  });

  test("applies exactly one of several concurrent approvals and denials of a code", async () => {
    await using fixture = await make();
    const people = [await member(fixture, "one"), await member(fixture, "two")];
    for (const round of ["a", "b", "c"]) {
      await addDevice(fixture, round);
      const approve = (userId = "") =>
        fixture.agents.approve(`user ${round}`, { userId, workspaceId: fixture.acme }, by);
      const done = await Promise.all([
        approve(people[0]),
        fixture.agents.deny(`user ${round}`, by),
        approve(people[1]),
      ]);
      expect(done.filter((each) => each)).toHaveLength(1);
      const outcome = await fixture.agents.poll(round);
      if (done[1]) expect(outcome).toBe("denied");
      else expect((outcome as AgentGrant).person.userId).toBe(people[done[0] ? 0 : 1] ?? "");
    }
  });

  test("answers one of several concurrent polls, and grants an approved device once", async () => {
    await using fixture = await make();
    await addDevice(fixture, "one");
    const early = await Promise.all(Array.from({ length: 5 }, () => fixture.agents.poll("one")));
    expect(early.filter((outcome) => outcome === "pending")).toHaveLength(1);
    await fixture.agents.approve("user one", { userId: await member(fixture), workspaceId: fixture.acme }, by);
    const polls = await Promise.all(Array.from({ length: 5 }, () => fixture.agents.poll("one")));
    expect(polls.filter((outcome) => typeof outcome === "object")).toHaveLength(1);
    expect(polls.filter((outcome) => outcome === "unknown")).toHaveLength(4);
  });

  test("signs in one of two people who approve a code at once", async () => {
    await using fixture = await make();
    const [ada, bob] = [await member(fixture, "ada"), await member(fixture, "bob")];
    await addDevice(fixture, "one");
    const both = await Promise.all(
      [ada, bob].map((userId) => fixture.agents.approve("user one", { userId, workspaceId: fixture.acme }, by)),
    );
    expect(both.toSorted()).toEqual([false, true]);
    const grant = (await fixture.agents.poll("one")) as AgentGrant;
    expect(grant.person.userId).toBe(both[0] === true ? ada : bob);
  });

  test("limits the number of waiting devices by removing those of the busiest network", async () => {
    await using fixture = await make();
    const { database, clock } = fixture;
    await addDevice(fixture, "first");
    await addDevice(fixture, "approved");
    await fixture.agents.approve("user approved", { userId: await member(fixture), workspaceId: fixture.acme }, by);
    const row = await database.kysely
      .selectFrom("agent_devices")
      .selectAll()
      .where("device_digest", "=", "first")
      .executeTakeFirstOrThrow();
    // One IPv6 network in which every code has its own /64.
    for (let start = 2; start < bounds.deviceCodesMax; start += 500) {
      const rows = Array.from({ length: Math.min(500, bounds.deviceCodesMax - start) }, (_, n) => ({
        ...row,
        device_digest: `d${start + n}`,
        user_digest: `u${start + n}`,
        ip: `2001:db8:1:${(start + n).toString(16)}::1`,
        created_at: clock.now() + start + n,
      }));
      await database.kysely.insertInto("agent_devices").values(rows).execute();
    }
    await Promise.all([addDevice(fixture, "one more"), addDevice(fixture, "and one more")]);
    const count = () => database.kysely.selectFrom("agent_devices").select("device_digest").execute();
    expect((await count()).length).toBeLessThanOrEqual(bounds.deviceCodesMax);
    for (const device of ["first", "one more", "and one more"])
      expect(await fixture.agents.poll(device)).toBe("pending");
    expect(await fixture.agents.poll("approved")).toMatchObject({ generation: 1 });
    expect([await fixture.agents.poll("d256"), await fixture.agents.poll(`d${bounds.deviceCodesMax - 1}`)]).toEqual([
      "unknown",
      "pending",
    ]);
    clock.advance(bounds.deviceCodeMs);
    await addDevice(fixture, "later");
    expect(await count()).toHaveLength(1);
  });
}

function sessionTests(make: () => Promise<AgentFixture>): void {
  test("finds a sign-in and its key by separate digests", async () => {
    await using fixture = await make();
    const userId = await member(fixture);
    const grant = await signedIn(fixture, userId, "one");
    const { keyId } = grant.person;
    for (const digest of [personDigest(keyId), sessionDigest(grant.sessionId)]) {
      expect(await fixture.controlStore.find(digest)).toMatchObject({
        id: keyId,
        personId: userId,
        groupId: expect.any(String),
      });
    }
    expect(await fixture.controlStore.find(sessionDigest("ags_missing"))).toBeNull();
    const again = await signedIn(fixture, userId, "two");
    // All sign-ins of a person in a workspace share one key, because limits and budgets apply to the person.
    expect(again.person.keyId).toBe(keyId);
  });

  test("rotates refresh tokens, accepts the previous one for a moment, and ends the sign-in when an older one is used", async () => {
    await using fixture = await make();
    const { agents, clock, controlStore } = fixture;
    const { sessionId } = await signedIn(fixture, await member(fixture), "one");
    const both = await Promise.all([agents.refresh(sessionId, 1), agents.refresh(sessionId, 1)]);
    expect(both.map((grant) => grant?.generation)).toEqual([2, 2]);
    clock.advance(bounds.refreshOverlapMs);
    expect((await agents.refresh(sessionId, 1))?.generation).toBe(2);
    expect((await agents.refresh(sessionId, 2))?.generation).toBe(3);
    // A token that was never issued changes nothing.
    expect(await agents.refresh(sessionId, 9)).toBeNull();
    clock.advance(bounds.refreshOverlapMs + 1);
    expect(await agents.refresh(sessionId, 2)).toBeNull();
    expect(await agents.refresh(sessionId, 3)).toBeNull();
    expect(await controlStore.find(sessionDigest(sessionId))).toBeNull();
  });

  test("neither ends sign-ins nor accepts a refresh token twice when the clock is set back", async () => {
    await using fixture = await make();
    const { agents, clock } = fixture;
    const { sessionId } = await signedIn(fixture, await member(fixture), "one");
    clock.advance(bounds.accessTokenMs);
    expect((await agents.refresh(sessionId, 1))?.generation).toBe(2);
    clock.jump(-bounds.accessTokenMs);
    // The previous token may have been stolen, so using it ends the sign-in.
    expect(await agents.refresh(sessionId, 1)).toBeNull();
    expect(await agents.refresh(sessionId, 2)).toBeNull();
    const other = await signedIn(fixture, await member(fixture, "other"), "two");
    clock.jump(-bounds.accessTokenMs);
    expect((await agents.refresh(other.sessionId, 1))?.generation).toBe(2);
    expect((await agents.refresh(other.sessionId, 1))?.generation).toBe(2);
  });

  test("ends a sign-in after its idle time, and a used one after its total time", async () => {
    await using fixture = await make();
    const { agents, clock } = fixture;
    const userId = await member(fixture);
    const idle = await signedIn(fixture, userId, "idle");
    const used = await signedIn(fixture, userId, "used");
    let generation = 1;
    const step = bounds.agentSessionIdleMs - 1;
    for (let at = 0; at + step < bounds.agentSessionTotalMs; at += step) {
      clock.advance(step);
      const grant = await agents.refresh(used.sessionId, generation);
      expect(grant?.expiresAt).toBeLessThanOrEqual(
        used.expiresAt - bounds.agentSessionIdleMs + bounds.agentSessionTotalMs,
      );
      generation = grant?.generation ?? 0;
    }
    clock.advance(step);
    expect(await agents.refresh(used.sessionId, generation)).toBeNull();
    expect(await agents.refresh(idle.sessionId, 1)).toBeNull();
    expect(await agents.sessions({ userId })).toEqual([]);
  });

  test("ends the sign-in that was unused for longest when a person exceeds the limit", async () => {
    await using fixture = await make();
    const { agents, clock, controlStore } = fixture;
    const userId = await member(fixture);
    const grants: AgentGrant[] = [];
    for (let n = 0; n <= bounds.agentSessionsPerPersonMax; n++) {
      clock.advance(1_000);
      grants.push(await signedIn(fixture, userId, `device ${n}`));
    }
    expect(await agents.sessions({ userId })).toHaveLength(bounds.agentSessionsPerPersonMax);
    expect(await controlStore.find(sessionDigest(grants[0]?.sessionId ?? ""))).toBeNull();
    expect(await controlStore.find(sessionDigest(grants[1]?.sessionId ?? ""))).not.toBeNull();
  });

  test("ends only the person's own sign-in, and only once", async () => {
    await using fixture = await make();
    const [ada, bob] = [await member(fixture, "ada"), await member(fixture, "bob")];
    const { sessionId } = await signedIn(fixture, ada, "one");
    expect(await fixture.agents.endSession(sessionId, bob, by)).toBe(false);
    expect(await fixture.agents.endSession(sessionId, ada, by)).toBe(true);
    expect(await fixture.agents.endSession(sessionId, ada, by)).toBe(false);
    const rows = await fixture.database.kysely
      .selectFrom("changes")
      .select("digest")
      .where("digest", "=", sessionDigest(sessionId))
      .execute();
    expect(rows).toHaveLength(1);
  });
}

function leaverTests(make: () => Promise<AgentFixture>): void {
  const accessLosses: readonly (readonly [string, (fixture: AgentFixture, userId: string) => Promise<unknown>])[] = [
    ["is disabled", ({ people }, userId) => people.updateUser(userId, { disabled: true }, by)],
    ["is removed", ({ people }, userId) => people.removeUser(userId, null, by)],
    ["leaves the workspace", ({ people, acme }, userId) => people.removeMember(acme, userId, { keys: null }, by)],
    ["becomes a viewer", ({ people, acme }, userId) => people.setMember(acme, userId, "viewer", by)],
  ];
  test.each(accessLosses)(
    "ends every sign-in of a person who %s, and notifies every process",
    async (_how, loseAccess) => {
      await using fixture = await make();
      const { agents, controlStore, database } = fixture;
      const userId = await member(fixture);
      const grant = await signedIn(fixture, userId, "one");
      await addDevice(fixture, "waiting");
      await agents.approve("user waiting", { userId, workspaceId: fixture.acme }, by);
      await loseAccess(fixture, userId);
      const digests = [sessionDigest(grant.sessionId), personDigest(grant.person.keyId)];
      for (const digest of digests) expect(await controlStore.find(digest)).toBeNull();
      const changes = await database.kysely
        .selectFrom("changes")
        .select("digest")
        .where("digest", "in", digests)
        .execute();
      expect(new Set(changes.map(({ digest }) => digest))).toEqual(new Set(digests));
      expect(await agents.refresh(grant.sessionId, 1)).toBeNull();
      expect(await agents.poll("waiting")).toBe("unknown");
    },
  );

  test("gives a returning member the previous key with its limits, but requires a new sign-in", async () => {
    await using fixture = await make();
    const { people, controlStore, acme } = fixture;
    const userId = await member(fixture);
    const { person, sessionId } = await signedIn(fixture, userId, "one");
    await controlStore.updateKey(acme, person.keyId, () => ({ limits: { rpm: 7 } }), by);
    await people.removeMember(acme, userId, { keys: null }, by);
    await people.setMember(acme, userId, "member", by);
    expect(await controlStore.find(sessionDigest(sessionId))).toBeNull();
    const again = await signedIn(fixture, userId, "two");
    expect(again.person.keyId).toBe(person.keyId);
    expect((await controlStore.find(personDigest(person.keyId)))?.scope.limits).toEqual({ rpm: 7 });
  });

  test("neither signs in nor refreshes a person whose key an admin disabled, and deletes sign-ins with their workspace", async () => {
    await using fixture = await make();
    const { agents, controlStore, acme } = fixture;
    const userId = await member(fixture);
    const { person, sessionId } = await signedIn(fixture, userId, "one");
    await controlStore.updateKey(acme, person.keyId, () => ({ enabled: false }), by);
    await addDevice(fixture, "two");
    await expect(agents.approve("user two", { userId, workspaceId: acme }, by)).rejects.toMatchObject({
      code: "forbidden",
    });
    expect(await agents.refresh(sessionId, 1)).toBeNull();
    expect((await controlStore.exportConfig(() => false)).config.workspaces?.flatMap(({ keys }) => keys ?? [])).toEqual(
      [],
    );
    await controlStore.removeWorkspace(acme, by);
    expect(await agents.sessions({ userId })).toEqual([]);
  });
}

function settingsTests(make: () => Promise<AgentFixture>): void {
  test("versions the settings of a group, also for concurrent writes, and deletes them with the group", async () => {
    await using fixture = await make();
    const { agents, controlStore, database, acme } = fixture;
    const { id: group } = await controlStore.addGroup(acme, { name: "agents" }, by);
    const place = { workspaceId: acme, group };
    const set = (settings: object | null) => agents.setSettings({ ...place, settings }, by);
    await Promise.all([set({ model: "a" }), set({ model: "b" })]);
    await set(null);
    const versions = await agents.settingsVersions({ workspaceId: acme, group: "agents" });
    expect(versions.map(({ version, by: who, checksum }) => [version, who, checksum === null])).toEqual([
      [3, by.actor, true],
      [2, by.actor, false],
      [1, by.actor, false],
    ]);
    expect((await agents.settingsVersion({ ...place, version: 3 }))?.text).toBeNull();
    expect(await agents.settingsVersion({ ...place, version: 4 })).toBeNull();
    // A write that is based on the second version is rejected after the third.
    const stale = agents.setSettings({ ...place, settings: { model: "z" }, replaces: versions[1]?.checksum }, by);
    expect(await stale.catch((thrown: unknown) => thrown)).toMatchObject({ code: "conflict", param: "replaces" });
    expect((await agents.settingsIn(place)).version?.version).toBe(3);
    const userId = await member(fixture);
    const preview = { workspaceId: acme, person: "MEM@example.com" };
    expect(await agents.previewSettings(preview)).toMatchObject({ by: "first_sign_in", maySignIn: true });
    const { person } = await signedIn(fixture, userId, "one");
    await controlStore.updateKey(acme, person.keyId, () => ({ group }), by);
    const next = { ...place, settings: { model: "c" }, replaces: null };
    expect((await agents.setSettings(next, by)).version?.version).toBe(4);
    expect(await agents.previewSettings({ ...preview, person: userId })).toMatchObject({
      group: { id: group, name: "agents" },
      by: "key",
    });
    expect((await agents.settingsOf(group))?.text).toBe('{"model":"c"}');
    await controlStore.updateKey(acme, person.keyId, () => ({ group: person.group }), by);
    await controlStore.removeGroup(acme, group, by);
    expect(await database.kysely.selectFrom("agent_settings_versions").selectAll().execute()).toEqual([]);
  });
}

async function member({ people, acme, user }: AgentFixture, name = "mem"): Promise<string> {
  const userId = await user(name);
  await people.setMember(acme, userId, "member", by);
  return userId;
}

async function addDevice({ agents, clock }: AgentFixture, name: string): Promise<void> {
  await agents.addDevice({
    deviceDigest: name,
    userDigest: `user ${name}`,
    client: "agent/1",
    ip: "192.0.2.7",
    expiresAt: clock.now() + bounds.deviceCodeMs,
  });
}

async function signedIn(fixture: AgentFixture, userId: string, name: string): Promise<AgentGrant> {
  await addDevice(fixture, name);
  expect(await fixture.agents.approve(`user ${name}`, { userId, workspaceId: fixture.acme }, by)).toBe(true);
  const grant = await fixture.agents.poll(name);
  if (typeof grant === "string") throw new Error(`no grant: ${grant}`);
  return grant;
}
