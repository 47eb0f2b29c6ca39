import { bounds, Failure, networksOf } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { auditedWrite, type Connection, chunksOf } from "#storage/tables.ts";
import { type PeopleContext, slugOf } from "../people/people-rows.ts";
import { personKeyIn } from "./agent-persons.ts";
import { beginSession, type PollOutcome } from "./agent-sessions.ts";

/** A device that asks for somebody's sign-in. Codes reach the store as digests only. Times are Unix milliseconds. */
interface NewDevice {
  readonly deviceDigest: string;
  readonly userDigest: string;
  /** How the program calls itself, cut to a bound. */
  readonly client: string;
  readonly ip: string;
  readonly expiresAt: number;
}

/** What a person sees of a device before they decide. */
export interface WaitingDevice {
  readonly client: string;
  readonly ip: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Throws `rate_limit_exceeded` when too many wait. */
export async function addDevice({ database, clock }: PeopleContext, device: NewDevice): Promise<void> {
  const now = clock.now();
  const { kysely } = database;
  await kysely.deleteFrom("agent_devices").where("expires_at", "<=", now).execute();
  const { n } = await kysely
    .selectFrom("agent_devices")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .executeTakeFirstOrThrow();
  if (Number(n) >= bounds.deviceCodesMax) await makeRoom(kysely, Number(n) - bounds.deviceCodesMax);
  await kysely
    .insertInto("agent_devices")
    .values({
      device_digest: device.deviceDigest,
      user_digest: device.userDigest,
      state: "pending",
      client: device.client,
      ip: device.ip,
      created_at: now,
      expires_at: device.expiresAt,
      polled_at: 0,
      user_id: null,
      key_id: null,
    })
    .execute();
}

/**
 * Codes that nobody approved make room, those of the networks that have most: many addresses of one network keep nobody else from
 * signing in. All are looked at, so several go at once.
 */
async function makeRoom(kysely: Connection, over: number): Promise<void> {
  const rows = await kysely
    .selectFrom("agent_devices")
    .select(["device_digest", "ip"])
    .where("state", "!=", "approved")
    .orderBy("created_at")
    .execute();
  const waiting = rows.map((row) => ({ ...row, networks: networksOf(row.ip) }));
  const removed = fromFullestNetworks(waiting, over + bounds.deviceCodesDropped);
  if (removed.length === 0) {
    throw new Failure("rate_limit_exceeded", "Too many devices wait for their tokens. Try again in some minutes.", {
      retryAfterMs: bounds.deviceCodeMs,
    });
  }
  for (const chunk of chunksOf(removed.map((row) => row.device_digest))) {
    await kysely
      .deleteFrom("agent_devices")
      .where("device_digest", "in", [...chunk])
      .where("state", "!=", "approved")
      .execute();
  }
}

/** null: no such device waits. */
export async function waitingDevice(options: PeopleContext, userDigest: string): Promise<WaitingDevice | null> {
  const row = await waiting(options.database.kysely, userDigest, options.clock.now());
  if (row === undefined) return null;
  return {
    client: row.client,
    ip: row.ip,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  };
}

/**
 * Lets a waiting device in as somebody. false: it does not wait any more. Throws `forbidden` when they may not make keys in the
 * workspace, or their key there is disabled.
 */
export async function approveDevice(
  options: PeopleContext,
  userDigest: string,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
  auditSource: AuditSource,
): Promise<boolean> {
  return await auditedWrite(options, auditSource, async (under) => {
    const { transaction, log, at } = under;
    const device = await waiting(transaction, userDigest, at);
    if (device === undefined) return false;
    if (!(await decided(transaction, device.device_digest, { state: "approved", user_id: userId }))) return false;
    const key = await personKeyIn(under, workspaceId, userId);
    await transaction
      .updateTable("agent_devices")
      .set({ key_id: key.id })
      .where("device_digest", "=", device.device_digest)
      .execute();
    const slug = await slugOf(transaction, workspaceId);
    const view = { client: device.client, ip: device.ip, user_id: userId, key_id: key.id };
    log.record("create", `agent ${slug}/${key.name}`, null, view, workspaceId);
    return true;
  });
}

/** The row goes when its device has heard of it, or its time is over. */
export async function denyDevice(
  options: PeopleContext,
  userDigest: string,
  auditSource: AuditSource,
): Promise<boolean> {
  return await auditedWrite(options, auditSource, async ({ transaction, log, at }) => {
    const device = await waiting(transaction, userDigest, at);
    if (device === undefined) return false;
    if (!(await decided(transaction, device.device_digest, { state: "denied" }))) return false;
    log.record("remove", "agent", { client: device.client, ip: device.ip, state: "denied" }, null);
    return true;
  });
}

/** What a device is told that asks; a device that was let in gets its sign-in, once. */
export async function pollDevice(options: PeopleContext, deviceDigest: string): Promise<PollOutcome> {
  const { kysely } = options.database;
  const now = options.clock.now();
  const row = await kysely
    .selectFrom("agent_devices")
    .select(["state", "expires_at"])
    .where("device_digest", "=", deviceDigest)
    .executeTakeFirst();
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
  await kysely.deleteFrom("agent_devices").where("device_digest", "=", deviceDigest).execute();
  return "denied";
}

/** Of two who decide at the same moment one does: who comes second finds that nothing waits. */
async function decided(
  connection: Connection,
  deviceDigest: string,
  columns: { readonly state: "approved" | "denied"; readonly user_id?: string },
): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable("agent_devices")
    .set(columns)
    .where("device_digest", "=", deviceDigest)
    .where("state", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
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
