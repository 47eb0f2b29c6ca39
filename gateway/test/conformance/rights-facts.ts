import { expect } from "bun:test";
import type { AgentStore, ControlStore, PeopleStore, RightsStore } from "#directory/index.ts";
import type { Database } from "#storage/index.ts";
import type { FakeClock } from "../fake-clock.ts";

/** A new database with the workspaces `acme` and `other`. */
export interface RightsFixture extends AsyncDisposable {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly people: PeopleStore;
  readonly agents: AgentStore;
  readonly rights: RightsStore;
  readonly controlStore: ControlStore;
  readonly acme: string;
  readonly other: string;
  user(name: string): Promise<string>;
}

export const by = { actor: "ada@example.com", ip: "192.0.2.1" };

/** A user's rights, by the workspace's slug. */
export async function rightsHeldBy({ people }: RightsFixture, userId: string): Promise<Record<string, unknown>> {
  const user = await people.user(userId);
  const places = (user?.workspaces ?? []).map(({ slug, role }) => [slug, role]);
  return { administrator: user?.administrator, ...Object.fromEntries(places) };
}

export async function auditRows({ database }: RightsFixture) {
  return await database.kysely.selectFrom("audit_log").select(["actor", "action", "object"]).orderBy("seq").execute();
}

export async function signAgentIn({ agents, clock, acme }: RightsFixture, userId: string): Promise<void> {
  await agents.addDevice({
    deviceDigest: "d",
    userDigest: "u",
    client: "agent/1",
    ip: "192.0.2.7",
    expiresAt: clock.now() + 60_000,
  });
  await agents.approve("u", { userId, workspaceId: acme }, by);
  expect(await agents.poll("d")).toMatchObject({ person: { userId } });
}

export async function groupOf({ agents }: RightsFixture, userId: string): Promise<string | undefined> {
  const [session] = await agents.sessions({ userId });
  return session?.group;
}

export async function move({ database, acme }: RightsFixture, userId: string, name: string): Promise<void> {
  const { id } = await database.kysely
    .selectFrom("groups")
    .select("id")
    .where("workspace_id", "=", acme)
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  await database.kysely.updateTable("api_keys").set({ group_id: id }).where("person_id", "=", userId).execute();
}
