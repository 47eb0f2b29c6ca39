import { bounds, sessionDigest } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Row } from "#storage/tables.ts";
import type { PeopleContext } from "../people/people-rows.ts";
import { type AgentPerson, personOfKey } from "./agent-persons.ts";

type SessionRow = Row<"agent_sessions">;

/** A sign-in of an agent. `generation` counts its refresh tokens: only the last one is good. */
export interface AgentGrant {
  readonly sessionId: string;
  readonly generation: number;
  readonly expiresAt: number;
  readonly person: AgentPerson;
}

export type PollOutcome = "pending" | "too_soon" | "denied" | "unknown" | AgentGrant;

/** One sign-in of an agent, as its person sees it. */
export interface AgentSession {
  readonly id: string;
  readonly userId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly keyId: string;
  readonly group: string;
  readonly client: string;
  readonly ip: string;
  readonly createdAt: number;
  readonly refreshedAt: number;
  readonly expiresAt: number;
}

/** What a device that was let in gets, once: whoever asks again, or at the same moment, finds nothing. */
export async function beginSession(options: PeopleContext, deviceDigest: string): Promise<PollOutcome> {
  return await auditedWrite(options, { actor: "sign-in of an agent", ip: null }, async (under) => {
    const { transaction, at } = under;
    const device = await transaction
      .deleteFrom("agent_devices")
      .where("device_digest", "=", deviceDigest)
      .where("state", "=", "approved")
      .where("expires_at", ">", at)
      .returning(["user_id", "key_id", "client", "ip"])
      .executeTakeFirst();
    if (device === undefined || device.key_id === null || device.user_id === null) return "unknown";
    const person = await personOfKey(transaction, device.key_id);
    if (person === null) return "denied";
    const row: SessionRow = {
      id: options.ids.next("ags_"),
      user_id: device.user_id,
      key_id: device.key_id,
      generation: 1,
      client: device.client,
      ip: device.ip,
      created_at: at,
      refreshed_at: at,
      expires_at: at + bounds.agentSessionIdleMs,
    };
    await makeRoom(under, device.key_id);
    await transaction.insertInto("agent_sessions").values(row).execute();
    return { sessionId: row.id, generation: 1, expiresAt: row.expires_at, person };
  });
}

/** Those that are over go, and of as many as there may be the one that was not used for longest. */
async function makeRoom({ transaction, log, at }: AuditedWrite, keyId: string): Promise<void> {
  const rows = await transaction
    .selectFrom("agent_sessions")
    .select(["id", "expires_at"])
    .where("key_id", "=", keyId)
    .orderBy("refreshed_at", "desc")
    .orderBy("id", "desc")
    .execute();
  const ended = rows
    .filter((row, index) => Number(row.expires_at) <= at || index >= bounds.agentSessionsPerPersonMax - 1)
    .map(({ id }) => id);
  if (ended.length === 0) return;
  await transaction.deleteFrom("agent_sessions").where("id", "in", ended).execute();
  for (const id of ended) log.keyChanged(sessionDigest(id));
}

/**
 * The sign-in with its next refresh token. null: there is none any more, or its person may no longer call. A token from before the
 * last one ends the sign-in: somebody has a copy.
 */
export async function refreshSession(
  options: PeopleContext,
  sessionId: string,
  generation: number,
): Promise<AgentGrant | null> {
  const { kysely } = options.database;
  const now = options.clock.now();
  const before = await sessionRow(options, sessionId);
  if (before === null || Number(before.expires_at) <= now) return null;
  const person = await personOfKey(kysely, before.key_id);
  if (person === null) return null;
  const expiresAt = Math.min(Number(before.created_at) + bounds.agentSessionTotalMs, now + bounds.agentSessionIdleMs);
  // Of several at once one writes.
  const { numUpdatedRows } = await kysely
    .updateTable("agent_sessions")
    .set({ generation: generation + 1, refreshed_at: now, expires_at: expiresAt })
    .where("id", "=", sessionId)
    .where("generation", "=", generation)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return { sessionId, generation: generation + 1, expiresAt, person };
  const after = await sessionRow(options, sessionId);
  if (after === null) return null;
  const isLast = Number(after.generation) === generation + 1;
  // A clock that was set back makes nobody's second use an early one.
  if (isLast && Math.abs(now - Number(after.refreshed_at)) <= bounds.refreshOverlapMs) {
    return { sessionId, generation: generation + 1, expiresAt: Number(after.expires_at), person };
  }
  if (generation > Number(after.generation)) return null;
  // RFC 9700, 4.14.2: nobody can say which of the two who have it is the thief, so neither goes on.
  await endSession(options, sessionId, null, { actor: person.email, ip: null }, "refresh_token_used_again");
  return null;
}

/** `userId` null: whoever's it is. false: there is none. */
export async function endSession(
  options: PeopleContext,
  sessionId: string,
  userId: string | null,
  auditSource: AuditSource,
  reason?: "refresh_token_used_again",
): Promise<boolean> {
  return await auditedWrite(options, auditSource, async ({ transaction, log }) => {
    let ending = transaction.deleteFrom("agent_sessions").where("id", "=", sessionId);
    if (userId !== null) ending = ending.where("user_id", "=", userId);
    const row = await ending.returningAll().executeTakeFirst();
    if (row === undefined) return false;
    const place = await transaction
      .selectFrom("api_keys")
      .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
      .select(["workspaces.id", "workspaces.slug", "api_keys.name"])
      .where("api_keys.id", "=", row.key_id)
      .executeTakeFirst();
    log.keyChanged(sessionDigest(sessionId));
    const view = { id: row.id, client: row.client, ip: row.ip, user_id: row.user_id };
    const why = reason === undefined ? view : { ...view, [reason]: true };
    log.record("revoke", `agent ${place?.slug ?? ""}/${place?.name ?? row.user_id}`, why, null, place?.id ?? null);
    return true;
  });
}

/** Newest first. */
export async function listSessions(
  { database, clock }: PeopleContext,
  { userId }: { readonly userId: string },
): Promise<AgentSession[]> {
  const rows = await database.kysely
    .selectFrom("agent_sessions")
    .innerJoin("api_keys", "api_keys.id", "agent_sessions.key_id")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .innerJoin("groups", "groups.id", "api_keys.group_id")
    .selectAll("agent_sessions")
    .select(["workspaces.id as workspace_id", "workspaces.slug", "groups.name as group_name"])
    .where("agent_sessions.user_id", "=", userId)
    .where("agent_sessions.expires_at", ">", clock.now())
    .orderBy("agent_sessions.created_at", "desc")
    .orderBy("agent_sessions.id", "desc")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    workspaceId: row.workspace_id,
    workspaceSlug: row.slug,
    keyId: row.key_id,
    group: row.group_name,
    client: row.client,
    ip: row.ip,
    createdAt: Number(row.created_at),
    refreshedAt: Number(row.refreshed_at),
    expiresAt: Number(row.expires_at),
  }));
}

/** Whose sign-in it is; null: there is none. */
export async function ownerOf(options: PeopleContext, id: string): Promise<string | null> {
  return (await sessionRow(options, id))?.user_id ?? null;
}

async function sessionRow({ database }: PeopleContext, id: string): Promise<SessionRow | null> {
  const row = await database.kysely.selectFrom("agent_sessions").selectAll().where("id", "=", id).executeTakeFirst();
  return row ?? null;
}
