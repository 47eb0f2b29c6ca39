import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import { type AgentGrant, createAgentStore, createControlStore, createPeopleStore } from "#directory/index.ts";
import { Authenticator } from "#identity/index.ts";
import { createChangeFeed, type Database, openDatabase, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { AccessTokens } from "../../src/identity/agents/access-tokens.ts";
import { kindDefaults, silentObserver } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { openMigrated } from "../migrated.ts";

const by = { actor: "test", ip: null };

/**
 * One process of an installation with a separate connection, key cache and change feed. The clock stands still for all.
 */
async function processOf(database: Database, directory: string) {
  const clock = new FakeClock();
  const vault = openVault({ masterKey: null, dataDir: directory });
  const options = { database, clock, vault, ids: createIds(clock) };
  const controlStore = createControlStore({ ...options, kindDefaults });
  const people = createPeopleStore(options);
  const agents = createAgentStore(options);
  let configSnapshot = await controlStore.configSnapshot();
  const feed = createChangeFeed({ database, clock, observer: silentObserver });
  const authenticator = new Authenticator({
    ...{ vault, clock },
    keyStore: controlStore,
    configSnapshot: () => configSnapshot,
    feedReadAtMs: () => feed.currentAtMs,
  });
  const stop = feed.subscribe((change) => authenticator.changed(change));
  return {
    ...{ controlStore, people, agents, vault, clock, feed, stop },
    async refresh(): Promise<void> {
      configSnapshot = await controlStore.configSnapshot();
    },
    /** The result of a call with this token. */
    async calls(token: string): Promise<string> {
      const headers = new Headers({ authorization: `Bearer ${token}` });
      try {
        return (await authenticator.authenticate(headers, "192.0.2.1")).person ?? "no person";
      } catch (thrown) {
        return (thrown as { code: string }).code;
      }
    },
  };
}

type Process = Awaited<ReturnType<typeof processOf>>;

const ends: readonly (readonly [string, (one: Process, userId: string, sessionId: string) => Promise<unknown>])[] = [
  ["ends the sign-in", ({ agents }, userId, sessionId) => agents.endSession(sessionId, userId, by)],
  ["disables the person", ({ people }, userId) => people.updateUser(userId, { disabled: true }, by)],
  [
    "receives a refresh token a second time",
    async ({ agents, clock }, _userId, sessionId) => {
      await agents.refresh(sessionId, 1);
      clock.advance(bounds.refreshOverlapMs + 1);
      await agents.refresh(sessionId, 1);
    },
  ],
];

test("after one process revokes an agent, other processes refuse its next call once they are notified", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-elsewhere-"));
  const path = join(directory, "sluice.db");
  const databases = [await openMigrated(path), openDatabase({ path })];
  const [first, second] = databases;
  if (first === undefined || second === undefined) throw new Error("There are two.");
  const here = await processOf(first, directory);
  const there = await processOf(second, directory);
  const acme = await here.controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by);
  for (const each of [here, there]) await each.refresh();
  for (const [how, end] of ends) {
    const email = `${how.replaceAll(" ", "-")}@example.com`;
    const grants = [{ administrator: false, workspaceId: acme.id, role: "member" }] as const;
    const { id } = await here.people.createUser({ email, name: how, passwordHash: null, grants }, by);
    const device = { deviceDigest: how, userDigest: `user ${how}`, client: "agent/1", ip: "192.0.2.7" };
    await here.agents.addDevice({ ...device, expiresAt: here.clock.now() + bounds.deviceCodeMs });
    await here.agents.approve(device.userDigest, { userId: id, workspaceId: acme.id }, by);
    const grant = (await here.agents.poll(how)) as AgentGrant;
    const { token } = new AccessTokens(there.vault, there.clock).issue(grant, "https://gateway.example.com");
    await there.feed.catchUp();
    expect([how, await there.calls(token)]).toEqual([how, id]);
    await end(here, id, grant.sessionId);
    await there.feed.catchUp();
    expect([how, await there.calls(token)]).toEqual([how, "invalid_api_key"]);
  }
  for (const each of [here, there]) each.stop();
  for (const database of databases) await database.close();
  rmSync(directory, { recursive: true, force: true });
});
