import { bounds, columnsOf, Failure, membersOf, networksOf, sessionDigest } from "#core/index.ts";
import { type AuditedWrite, auditedWrite, type Connection, type Row } from "#storage/tables.ts";
import { slugOf } from "../people/people-rows.ts";
import { countRows, deleteRows, findRow, findRows, not, setColumns } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { type AgentPerson, getOrCreatePersonKey, personOfKey } from "./agent-keys.ts";

/** A device that waits for a person to approve it. Only digests of codes are stored. Times are Unix milliseconds. */
interface NewDevice {
  readonly deviceDigest: string;
  readonly userDigest: string;
  /** The name that the program sent, shortened. */
  readonly client: string;
  readonly ip: string;
  readonly expiresAt: number;
}

/** Throws `rate_limit_exceeded` when too many devices wait. */
export async function addDevice({ database, clock }: Directory, device: NewDevice): Promise<void> {
  const now = clock.now();
  const { kysely } = database;
  await kysely.deleteFrom("agent_devices").where("expires_at", "<=", now).execute();
  const n = await countRows(kysely.selectFrom("agent_devices"));
  if (n >= bounds.deviceCodesMax) await evictWaitingDevices(kysely, n - bounds.deviceCodesMax);
  const pending = { state: "pending", created_at: now, polled_at: 0, user_id: null, key_id: null } as const;
  await kysely
    .insertInto("agent_devices")
    .values({ ...columnsOf(device), ...pending })
    .execute();
}

/**
 * Deletes unapproved devices of the networks with the most, so that one network cannot keep others from signing in. It reads all
 * devices, so it deletes more than the excess at once.
 */
async function evictWaitingDevices(kysely: Connection, excess: number): Promise<void> {
  const rows = await findRows(kysely, "agent_devices", { state: not("approved") }, "created_at");
  const devices = rows.map((row) => ({ ...row, networks: networksOf(row.ip) }));
  const removed = oldestOfLargestNetworks(devices, excess + bounds.deviceCodesDropped);
  if (removed.length === 0) {
    throw new Failure(
      "rate_limit_exceeded",
      "Too many devices are waiting for a sign-in. Try again in a few minutes.",
      {
        retryAfterMs: bounds.deviceCodeMs,
      },
    );
  }
  const digests = removed.map((row) => row.device_digest);
  await deleteRows(kysely, "agent_devices", { device_digest: digests, state: not("approved") });
}

export type WaitingDevice = NonNullable<Awaited<ReturnType<typeof waitingDevice>>>;

/** Shown to a person before they approve the device; null: no such device is waiting. */
export async function waitingDevice(options: Directory, userDigest: string) {
  const row = await waiting(options.database.kysely, userDigest, options.clock.now());
  if (row === undefined) return null;
  return { client: row.client, ip: row.ip, createdAt: row.created_at, expiresAt: row.expires_at };
}

/**
 * Approves a device for a user. false: it is no longer waiting. Throws `forbidden` if the user may not create keys in the workspace, or
 * if their key there is disabled.
 */
export async function approveDevice(
  context: Write,
  userDigest: string,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
): Promise<boolean> {
  const { transaction, log, at } = context;
  const device = await waiting(transaction, userDigest, at);
  if (device === undefined) return false;
  if (!(await decideDevice(transaction, device.device_digest, { state: "approved", user_id: userId }))) return false;
  const key = await getOrCreatePersonKey(context, workspaceId, userId);
  await setColumns(transaction, "agent_devices", { device_digest: device.device_digest }, { key_id: key.id });
  const slug = await slugOf(transaction, workspaceId);
  const view = { client: device.client, ip: device.ip, user_id: userId, key_id: key.id };
  log.record("create", `agent ${slug}/${key.name}`, null, view, workspaceId);
  return true;
}

/** false: the device is no longer waiting. Its row is deleted when the device polls, or when it expires. */
export async function denyDevice({ transaction, log, at }: Write, userDigest: string): Promise<boolean> {
  const device = await waiting(transaction, userDigest, at);
  if (device === undefined) return false;
  if (!(await decideDevice(transaction, device.device_digest, { state: "denied" }))) return false;
  log.record("remove", "agent", { client: device.client, ip: device.ip, state: "denied" }, null);
  return true;
}

/** An approved device gets its sign-in, once. */
export async function pollDevice(options: Directory, deviceDigest: string): Promise<PollOutcome> {
  const { kysely } = options.database;
  const now = options.clock.now();
  const row = await findRow(kysely, "agent_devices", { device_digest: deviceDigest });
  if (row === undefined || Number(row.expires_at) <= now) return "unknown";
  if (row.state === "approved") return await startSession(options, deviceDigest);
  // Only one of two concurrent polls writes; the other is too soon. `polled_at` is in the future if the clock was set back.
  const latestPoll = now - bounds.devicePollMs + bounds.devicePollEarlyMs;
  const { numUpdatedRows } = await kysely
    .updateTable("agent_devices")
    .set({ polled_at: now })
    .where("device_digest", "=", deviceDigest)
    .where((eb) => eb.or([eb("polled_at", "<=", latestPoll), eb("polled_at", ">", now + bounds.devicePollMs)]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return "too_soon";
  if (row.state !== "denied") return "pending";
  await deleteRows(kysely, "agent_devices", { device_digest: deviceDigest });
  return "denied";
}

/** false: another call has already approved or denied it. */
async function decideDevice(
  connection: Connection,
  deviceDigest: string,
  columns: { readonly state: "approved" | "denied"; readonly user_id?: string },
): Promise<boolean> {
  const where = { device_digest: deviceDigest, state: "pending" } as const;
  return (await setColumns(connection, "agent_devices", where, columns)) > 0;
}

function waiting(connection: Connection, userDigest: string, now: number) {
  return connection
    .selectFrom("agent_devices")
    .selectAll()
    .where("user_digest", "=", userDigest)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

/**
 * Picks `count` items: the oldest of the largest networks, so that those networks end up equally large. `items`: oldest first.
 * `networks`: the networks of an item's address, the widest first.
 */
export function oldestOfLargestNetworks<Item extends { readonly networks: readonly string[] }>(
  items: readonly Item[],
  count: number,
  depth = 0,
): readonly Item[] {
  if (count <= 0) return [];
  if (count >= items.length || items[0]?.networks.length === depth) return items.slice(0, count);
  const networks = [...Map.groupBy(items, (one) => one.networks[depth] ?? "").values()];
  // The sort is stable: of equally large networks, the one with the oldest item comes first.
  networks.sort((one, other) => other.length - one.length);
  // The number of networks to shrink, until they are at least as large as the next one.
  let cut = 1;
  let size = networks[0]?.length ?? 0;
  while (size - cut * (networks[cut]?.length ?? 0) < count) size += networks[cut++]?.length ?? 0;
  const remaining = size - count;
  return networks.slice(0, cut).flatMap((network, index) => {
    const remainingHere = Math.floor(remaining / cut) + (index >= cut - (remaining % cut) ? 1 : 0);
    return oldestOfLargestNetworks(network, network.length - remainingHere, depth + 1);
  });
}

type SessionRow = Row<"agent_sessions">;

/** A sign-in of an agent. `generation` counts its refresh tokens; only the last one is valid. */
export interface AgentGrant {
  readonly sessionId: string;
  readonly generation: number;
  readonly expiresAt: number;
  readonly person: AgentPerson;
}

export type PollOutcome = "pending" | "too_soon" | "denied" | "unknown" | AgentGrant;

/** Deletes the approved device, so that only one of two concurrent calls gets the sign-in. */
async function startSession(options: Directory, deviceDigest: string): Promise<PollOutcome> {
  return await auditedWrite(options, { actor: "sign-in of an agent", ip: null }, async (context) => {
    const { transaction, at } = context;
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
    const { user_id, key_id, client, ip } = device;
    const times = { created_at: at, refreshed_at: at, expires_at: at + bounds.agentSessionIdleMs };
    const row: SessionRow = { id: options.ids.next("ags_"), user_id, key_id, generation: 1, client, ip, ...times };
    await deleteExcessSessions(context, device.key_id);
    await transaction.insertInto("agent_sessions").values(row).execute();
    return { sessionId: row.id, generation: 1, expiresAt: row.expires_at, person };
  });
}

/** Deletes expired sign-ins, and the longest unused ones above the maximum. */
async function deleteExcessSessions({ transaction, log, at }: AuditedWrite, keyId: string): Promise<void> {
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
  await deleteRows(transaction, "agent_sessions", { id: ended });
  for (const id of ended) log.keyChanged(sessionDigest(id));
}

/**
 * Returns the sign-in with its next generation. null: it has ended, or the person may no longer call. Reuse of an older token ends the
 * sign-in, since another program has a copy.
 */
export async function refreshSession(
  options: Directory,
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
  const next = { generation: generation + 1, refreshed_at: now, expires_at: expiresAt };
  const changed = await setColumns(kysely, "agent_sessions", { id: sessionId, generation }, next);
  if (changed > 0) return { sessionId, generation: generation + 1, expiresAt, person };
  const after = await sessionRow(options, sessionId);
  if (after === null) return null;
  const isLast = Number(after.generation) === generation + 1;
  // `abs`: the clock may have been set back.
  if (isLast && Math.abs(now - Number(after.refreshed_at)) <= bounds.refreshOverlapMs) {
    return { sessionId, generation: generation + 1, expiresAt: Number(after.expires_at), person };
  }
  if (generation > Number(after.generation)) return null;
  // RFC 9700, 4.14.2: it is unclear which of the two holders is the attacker, so the token is revoked for both.
  await auditedWrite(options, { actor: person.email, ip: null }, (context) =>
    removeSession(context, sessionId, null, { refresh_token_used_again: true }),
  );
  return null;
}

/** `userId` null: the sign-in of any user. false: there is no such sign-in. */
export async function endSession(context: Write, sessionId: string, userId: string | null): Promise<boolean> {
  return await removeSession(context, sessionId, userId, {});
}

async function removeSession(
  { transaction, log }: Write,
  sessionId: string,
  userId: string | null,
  reason: { readonly refresh_token_used_again?: true },
): Promise<boolean> {
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
  const view = { id: row.id, client: row.client, ip: row.ip, user_id: row.user_id, ...reason };
  log.record("revoke", `agent ${place?.slug ?? ""}/${place?.name ?? row.user_id}`, view, null, place?.id ?? null);
  return true;
}

export type AgentSession = Awaited<ReturnType<typeof listSessions>>[number];

/** Newest first. */
export async function listSessions({ database, clock }: Directory, { userId }: { readonly userId: string }) {
  const rows = await database.kysely
    .selectFrom("agent_sessions")
    .innerJoin("api_keys", "api_keys.id", "agent_sessions.key_id")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .innerJoin("groups", "groups.id", "api_keys.group_id")
    .selectAll("agent_sessions")
    .select(["workspaces.id as workspace_id", "workspaces.slug as workspace_slug", "groups.name as group"])
    .where("agent_sessions.user_id", "=", userId)
    .where("agent_sessions.expires_at", ">", clock.now())
    .orderBy("agent_sessions.created_at", "desc")
    .orderBy("agent_sessions.id", "desc")
    .execute();
  return rows.map(({ generation: _generation, ...row }) => membersOf(row));
}

/** The user id of a sign-in; null: there is no such sign-in. */
export async function ownerOf(options: Directory, id: string): Promise<string | null> {
  return (await sessionRow(options, id))?.user_id ?? null;
}

async function sessionRow({ database }: Directory, id: string): Promise<SessionRow | null> {
  return (await findRow(database.kysely, "agent_sessions", { id })) ?? null;
}
