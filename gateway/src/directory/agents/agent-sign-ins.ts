import { bounds, Failure, networksOf, sessionDigest } from "#core/index.ts";
import { type AuditedWrite, auditedWrite, type Connection, columnsOf, membersOf, type Row } from "#storage/tables.ts";
import { slugOf } from "../people/people-rows.ts";
import { countRows, deleteRows, findRow, findRows, not, setColumns } from "../rows.ts";
import type { Directory, Write } from "../store.ts";
import { type AgentPerson, personKeyIn, personOfKey } from "./agent-persons.ts";

/** A device that asks for somebody's sign-in. Codes reach the store as digests only. Times are Unix milliseconds. */
interface NewDevice {
  readonly deviceDigest: string;
  readonly userDigest: string;
  /** How the program calls itself, cut to a bound. */
  readonly client: string;
  readonly ip: string;
  readonly expiresAt: number;
}

/** Throws `rate_limit_exceeded` when too many wait. */
export async function addDevice({ database, clock }: Directory, device: NewDevice): Promise<void> {
  const now = clock.now();
  const { kysely } = database;
  await kysely.deleteFrom("agent_devices").where("expires_at", "<=", now).execute();
  const n = await countRows(kysely.selectFrom("agent_devices"));
  if (n >= bounds.deviceCodesMax) await dropWaiting(kysely, n - bounds.deviceCodesMax);
  const waits = { state: "pending", created_at: now, polled_at: 0, user_id: null, key_id: null } as const;
  await kysely
    .insertInto("agent_devices")
    .values({ ...columnsOf(device), ...waits })
    .execute();
}

/**
 * Codes that nobody approved make room, those of the networks that have most: many addresses of one network keep nobody else from
 * signing in. All are looked at, so several go at once.
 */
async function dropWaiting(kysely: Connection, over: number): Promise<void> {
  const rows = await findRows(kysely, "agent_devices", { state: not("approved") }, "created_at");
  const waiting = rows.map((row) => ({ ...row, networks: networksOf(row.ip) }));
  const removed = fromFullestNetworks(waiting, over + bounds.deviceCodesDropped);
  if (removed.length === 0) {
    throw new Failure("rate_limit_exceeded", "Too many devices wait for their tokens. Try again in some minutes.", {
      retryAfterMs: bounds.deviceCodeMs,
    });
  }
  const digests = removed.map((row) => row.device_digest);
  await deleteRows(kysely, "agent_devices", { device_digest: digests, state: not("approved") });
}

/** What a person sees of a device before they decide. */
export type WaitingDevice = NonNullable<Awaited<ReturnType<typeof waitingDevice>>>;

/** null: no such device waits. */
export async function waitingDevice(options: Directory, userDigest: string) {
  const row = await waiting(options.database.kysely, userDigest, options.clock.now());
  if (row === undefined) return null;
  return { client: row.client, ip: row.ip, createdAt: row.created_at, expiresAt: row.expires_at };
}

/**
 * Lets a waiting device in as somebody. false: it does not wait any more. Throws `forbidden` when they may not make keys in the
 * workspace, or their key there is disabled.
 */
export async function approveDevice(
  under: Write,
  userDigest: string,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
): Promise<boolean> {
  const { transaction, log, at } = under;
  const device = await waiting(transaction, userDigest, at);
  if (device === undefined) return false;
  if (!(await decided(transaction, device.device_digest, { state: "approved", user_id: userId }))) return false;
  const key = await personKeyIn(under, workspaceId, userId);
  await setColumns(transaction, "agent_devices", { device_digest: device.device_digest }, { key_id: key.id });
  const slug = await slugOf(transaction, workspaceId);
  const view = { client: device.client, ip: device.ip, user_id: userId, key_id: key.id };
  log.record("create", `agent ${slug}/${key.name}`, null, view, workspaceId);
  return true;
}

/** The row goes when its device has heard of it, or its time is over. */
export async function denyDevice({ transaction, log, at }: Write, userDigest: string): Promise<boolean> {
  const device = await waiting(transaction, userDigest, at);
  if (device === undefined) return false;
  if (!(await decided(transaction, device.device_digest, { state: "denied" }))) return false;
  log.record("remove", "agent", { client: device.client, ip: device.ip, state: "denied" }, null);
  return true;
}

/** What a device is told that asks; a device that was let in gets its sign-in, once. */
export async function pollDevice(options: Directory, deviceDigest: string): Promise<PollOutcome> {
  const { kysely } = options.database;
  const now = options.clock.now();
  const row = await findRow(kysely, "agent_devices", { device_digest: deviceDigest });
  if (row === undefined || Number(row.expires_at) <= now) return "unknown";
  if (row.state === "approved") return await beginSession(options, deviceDigest);
  // Of two polls at once one writes; the other finds that it comes too soon. A poll that lies ahead was before the clock was set back.
  const last = now - bounds.devicePollMs + bounds.devicePollEarlyMs;
  const { numUpdatedRows } = await kysely
    .updateTable("agent_devices")
    .set({ polled_at: now })
    .where("device_digest", "=", deviceDigest)
    .where((eb) => eb.or([eb("polled_at", "<=", last), eb("polled_at", ">", now + bounds.devicePollMs)]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return "too_soon";
  if (row.state !== "denied") return "pending";
  await deleteRows(kysely, "agent_devices", { device_digest: deviceDigest });
  return "denied";
}

/** Of two who decide at the same moment one does: who comes second finds that nothing waits. */
async function decided(
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

/** Something that waits, with the networks it came from, the largest first. */
interface Waiting {
  readonly networks: readonly string[];
}

/**
 * The `count` that make room for others: of the network with most, of its part with most, the oldest, and so on from what is left.
 * `waiting` is sorted, the oldest first.
 */
export function fromFullestNetworks<Item extends Waiting>(
  waiting: readonly Item[],
  count: number,
  depth = 0,
): readonly Item[] {
  if (count <= 0) return [];
  if (count >= waiting.length || waiting[0]?.networks.length === depth) return waiting.slice(0, count);
  const networks = [...Map.groupBy(waiting, (one) => one.networks[depth] ?? "").values()];
  // The sort is stable: of networks with as many, the one whose oldest is older comes first.
  networks.sort((one, other) => other.length - one.length);
  // The fullest that are cut down to one size, which is at least that of the next.
  let cut = 1;
  let held = networks[0]?.length ?? 0;
  while (held - cut * (networks[cut]?.length ?? 0) < count) held += networks[cut++]?.length ?? 0;
  const kept = held - count;
  return networks.slice(0, cut).flatMap((network, place) => {
    const keeps = Math.floor(kept / cut) + (place >= cut - (kept % cut) ? 1 : 0);
    return fromFullestNetworks(network, network.length - keeps, depth + 1);
  });
}

type SessionRow = Row<"agent_sessions">;

/** A sign-in of an agent. `generation` counts its refresh tokens: only the last one is good. */
export interface AgentGrant {
  readonly sessionId: string;
  readonly generation: number;
  readonly expiresAt: number;
  readonly person: AgentPerson;
}

export type PollOutcome = "pending" | "too_soon" | "denied" | "unknown" | AgentGrant;

/** What a device that was let in gets, once: whoever asks again, or at the same moment, finds nothing. */
async function beginSession(options: Directory, deviceDigest: string): Promise<PollOutcome> {
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
    const { user_id, key_id, client, ip } = device;
    const times = { created_at: at, refreshed_at: at, expires_at: at + bounds.agentSessionIdleMs };
    const row: SessionRow = { id: options.ids.next("ags_"), user_id, key_id, generation: 1, client, ip, ...times };
    await dropSessions(under, device.key_id);
    await transaction.insertInto("agent_sessions").values(row).execute();
    return { sessionId: row.id, generation: 1, expiresAt: row.expires_at, person };
  });
}

/** Those that are over go, and of as many as there may be the one that was not used for longest. */
async function dropSessions({ transaction, log, at }: AuditedWrite, keyId: string): Promise<void> {
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
 * The sign-in with its next refresh token. null: there is none any more, or its person may no longer call. A token from before the
 * last one ends the sign-in: somebody has a copy.
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
  // Of several at once one writes.
  const next = { generation: generation + 1, refreshed_at: now, expires_at: expiresAt };
  const changed = await setColumns(kysely, "agent_sessions", { id: sessionId, generation }, next);
  if (changed > 0) return { sessionId, generation: generation + 1, expiresAt, person };
  const after = await sessionRow(options, sessionId);
  if (after === null) return null;
  const isLast = Number(after.generation) === generation + 1;
  // A clock that was set back makes nobody's second use an early one.
  if (isLast && Math.abs(now - Number(after.refreshed_at)) <= bounds.refreshOverlapMs) {
    return { sessionId, generation: generation + 1, expiresAt: Number(after.expires_at), person };
  }
  if (generation > Number(after.generation)) return null;
  // RFC 9700, 4.14.2: nobody can say which of the two who have it is the thief, so neither goes on.
  await auditedWrite(options, { actor: person.email, ip: null }, (under) =>
    removeSession(under, sessionId, null, { refresh_token_used_again: true }),
  );
  return null;
}

/** `userId` null: whoever's it is. false: there is none. */
export async function endSession(under: Write, sessionId: string, userId: string | null): Promise<boolean> {
  return await removeSession(under, sessionId, userId, {});
}

/** `why`: for the audit log. */
async function removeSession(
  { transaction, log }: Write,
  sessionId: string,
  userId: string | null,
  why: { readonly refresh_token_used_again?: true },
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
  const view = { id: row.id, client: row.client, ip: row.ip, user_id: row.user_id, ...why };
  log.record("revoke", `agent ${place?.slug ?? ""}/${place?.name ?? row.user_id}`, view, null, place?.id ?? null);
  return true;
}

/** One sign-in of an agent, as its person sees it. */
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

/** Whose sign-in it is; null: there is none. */
export async function ownerOf(options: Directory, id: string): Promise<string | null> {
  return (await sessionRow(options, id))?.user_id ?? null;
}

async function sessionRow({ database }: Directory, id: string): Promise<SessionRow | null> {
  return (await findRow(database.kysely, "agent_sessions", { id })) ?? null;
}
