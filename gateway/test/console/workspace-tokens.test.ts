import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { AgentSession, AgentStore } from "#directory/index.ts";
import type { Admission } from "#limits/index.ts";
import type { ReportStore } from "#ports/index.ts";
import { type ConsoleFixture, openConsoleFixture } from "../console-fixture.ts";

interface AgentsFixture extends ConsoleFixture {
  /** Ids of active agent sign-ins. */
  readonly standing: () => readonly string[];
}

/** A user who owns two workspaces, with an agent signed in at each. */
async function openWithAgents(): Promise<AgentsFixture> {
  const sessions: AgentSession[] = [];
  const fixture = await openConsoleFixture((gateway) => {
    const { acme, other, users } = gateway;
    const userId = users.stranger.id;
    for (const { id: workspaceId, slug: workspaceSlug } of [acme, other]) {
      const at = { createdAt: 0, refreshedAt: 0, expiresAt: 1 };
      const place = { workspaceId, workspaceSlug, keyId: `key_${workspaceSlug}`, group: "default" };
      sessions.push({ id: `ags_${workspaceSlug}`, userId, client: "", ip: "", ...place, ...at });
    }
    const keysOf = async () => sessions.map(({ keyId, workspaceId }) => ({ id: keyId, workspaceId, groupId: "" }));
    const agents = {
      keysOf,
      sessions: async ({ userId }: { readonly userId: string }) =>
        sessions.filter((session) => session.userId === userId),
      async endSession(id: string, owner: string | null) {
        const index = sessions.findIndex(
          (session) => session.id === id && (owner === null || session.userId === owner),
        );
        return index >= 0 && sessions.splice(index, 1).length > 0;
      },
    } as unknown as AgentStore;
    return {
      agents,
      reports: {
        keyUsage: async () => [],
        listCount: async () => ({ total: null, more_than_total: false }),
      } as unknown as ReportStore,
      admission: { limitUsages: async () => [] } as unknown as Admission,
      randomBytes,
    };
  });
  const source = { actor: "test", ip: null };
  await fixture.people.setMember(fixture.acme.id, fixture.users.stranger.id, "owner", source);
  return { ...fixture, standing: () => sessions.map(({ id }) => id) };
}

async function token(fixture: ConsoleFixture, grant: object): Promise<{ readonly token: string }> {
  const { body } = await fixture.call("stranger", "tokens.create", { body: { name: JSON.stringify(grant), ...grant } });
  return { token: body.secret };
}

test("a token of one workspace lists its creator's agents there and no others", async () => {
  await using fixture = await openWithAgents();
  const narrow = await token(fixture, { workspace: "acme", role: "viewer" });
  for (const id of ["agents.list", "agents.usage"] as const) {
    const slugs = async (who: "stranger" | typeof narrow) =>
      (await fixture.call(who, id)).body.data.map((row: { workspace: { slug: string } }) => row.workspace.slug);
    expect(await slugs("stranger")).toEqual(["acme", "other"]);
    expect(await slugs(narrow)).toEqual(["acme"]);
  }
});

test("a token ends agents within its role; those of other workspaces return 404", async () => {
  await using fixture = await openWithAgents();
  const viewer = await token(fixture, { workspace: "acme", role: "viewer" });
  const member = await token(fixture, { workspace: "acme", role: "member" });
  const end = async (who: "stranger" | typeof viewer, agent: string) =>
    (await fixture.call(who, "agents.end", { params: { agent } })).status;
  expect([await end(viewer, "ags_acme"), await end(viewer, "ags_other"), await end(member, "ags_other")]).toEqual([
    403, 404, 404,
  ]);
  expect(fixture.standing()).toEqual(["ags_acme", "ags_other"]);
  expect([await end(member, "ags_acme"), await end("stranger", "ags_other")]).toEqual([200, 200]);
  expect(fixture.standing()).toEqual([]);
});

test("a token lists itself and tokens that it could have created, not its creator's other tokens", async () => {
  await using fixture = await openWithAgents();
  const viewer = await token(fixture, { workspace: "acme", role: "viewer" });
  const member = await token(fixture, { workspace: "acme", role: "member" });
  await token(fixture, { workspace: "other", role: "owner" });
  const seen = async (who: "stranger" | typeof viewer) =>
    (await fixture.call(who, "tokens.list")).body.data
      .map((row: { workspace: { slug: string }; role: string }) => `${row.workspace.slug} ${row.role}`)
      .toSorted();
  expect(await seen("stranger")).toEqual(["acme member", "acme viewer", "other owner"]);
  expect(await seen(member)).toEqual(["acme member", "acme viewer"]);
  expect(await seen(viewer)).toEqual(["acme viewer"]);
});
