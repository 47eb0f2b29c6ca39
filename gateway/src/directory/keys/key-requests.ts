import type { BodyOf, ConsoleKey, KeyRequest } from "@sluice/contract/console";
import { defaultGroupName, type KeyRequestState } from "@sluice/contract/words";
import { bounds, Failure, orNotFound, type Secret, withoutUndefined } from "#core/index.ts";
import type { Paged } from "#ports/index.ts";
import {
  type AuditedObject,
  type AuditedWrite,
  type Connection,
  cutPage,
  insertRows,
  type Row,
  updateRow,
} from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { mayOwnKeys } from "../people/key-owners.ts";
import { refuseProblems, refuseSuspended } from "../refusals.ts";
import { deleteRows, findRow, findRows } from "../rows.ts";
import type { ControlWrite, Directory } from "../store.ts";
import { groupOf, workspaceOf } from "../workspaces/workspace-rows.ts";
import { findKeyByName, keyProblems } from "./key-rules.ts";
import { addKey } from "./keys.ts";

type RequestRow = Row<"key_requests">;

/** Settings of the future key, as stored. */
type Wanted = Omit<KeyRequest["requested"], "group"> & { readonly group: string };
type GrantedKey = NonNullable<KeyRequest["granted"]>;

interface RequestFilter {
  /** null: all workspaces. */
  readonly workspaceId: string | null;
  readonly requesterId?: string | undefined;
  readonly state?: KeyRequestState | undefined;
}

/** Newest first. */
export async function keyRequests(
  { database, clock }: Directory,
  { workspaceId, requesterId, state }: RequestFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<KeyRequest>> {
  const now = clock.now();
  let query = requestRows(database.kysely)
    .orderBy("key_requests.id", "desc")
    .limit(limit + 1);
  if (workspaceId !== null) query = query.where("key_requests.workspace_id", "=", workspaceId);
  if (requesterId !== undefined) query = query.where("key_requests.requester_id", "=", requesterId);
  if (cursor !== null) query = query.where("key_requests.id", "<", cursor);
  if (state === "expired") {
    query = query.where("key_requests.state", "in", openStates).where("key_requests.expires_at", "<=", now);
  } else if (state !== undefined) {
    query = query.where("key_requests.state", "=", state);
    if (isOpenState(state)) query = query.where("key_requests.expires_at", ">", now);
  }
  const { page, next } = cutPage(await query.execute(), limit, ({ id }) => id);
  return { data: await views(database.kysely, page, now), next };
}

/** Requests to report: open ones, and those declined since a time. */
export async function reportedKeyRequests(
  { database, clock }: Directory,
  workspaceId: string | null,
  declinedSince: number,
  limit: number,
): Promise<readonly KeyRequest[]> {
  const now = clock.now();
  let query = requestRows(database.kysely)
    .where((eb) =>
      eb.or([
        eb.and([eb("key_requests.state", "in", openStates), eb("key_requests.expires_at", ">", now)]),
        eb.and([eb("key_requests.state", "=", "declined"), eb("key_requests.decided_at", ">=", declinedSince)]),
      ]),
    )
    .orderBy("key_requests.id", "desc")
    .limit(limit);
  if (workspaceId !== null) query = query.where("key_requests.workspace_id", "=", workspaceId);
  return await views(database.kysely, await query.execute(), now);
}

/** `workspaceId` null: any workspace. */
export async function keyRequest(
  { database, clock }: Directory,
  workspaceId: string | null,
  id: string,
): Promise<KeyRequest | null> {
  let query = requestRows(database.kysely).where("key_requests.id", "=", id);
  if (workspaceId !== null) query = query.where("key_requests.workspace_id", "=", workspaceId);
  const [view] = await views(database.kysely, await query.execute(), clock.now());
  return view ?? null;
}

/** Throws `conflict` if the person has too many open requests. Their oldest closed ones are deleted; the audit log has them. */
export async function createKeyRequest(
  context: ControlWrite,
  workspaceId: string,
  requesterId: string,
  { purpose, ...fields }: BodyOf<"keyRequests.create">,
): Promise<KeyRequest> {
  const { transaction, ids, at } = context;
  const workspace = await workspaceOf(transaction, workspaceId);
  refuseSuspended(workspace, `workspace ${workspace.slug}`);
  if (!(await mayOwnKeys(transaction, workspaceId, requesterId))) throw noMember();
  const requested = await checkedWanted(context, workspaceId, fields);
  const own = await findRows(
    transaction,
    "key_requests",
    { workspace_id: workspaceId, requester_id: requesterId },
    "created_at",
    "id",
  );
  const open = own.filter((row) => isOpen(row, at));
  if (open.length >= bounds.keyRequestsOpenMax) {
    const message = `You have ${open.length} open key requests in this workspace, the most that are allowed. Withdraw one first.`;
    throw new Failure("conflict", message);
  }
  const closed = own.filter((row) => !open.includes(row));
  const tooMany = Math.max(0, own.length + 1 - bounds.keyRequestsKeptMax);
  const old = closed.slice(0, tooMany).map(({ id }) => id);
  if (old.length > 0) await deleteRows(transaction, "key_requests", { id: old });
  const row: RequestRow = {
    ...{ id: ids.next("keyreq_"), workspace_id: workspaceId, requester_id: requesterId, purpose, state: "pending" },
    ...{
      requested: JSON.stringify(requested),
      granted: null,
      reason: null,
      decided_by: null,
      decided_at: null,
      key_id: null,
    },
    ...{ created_at: at, expires_at: at + bounds.keyRequestMs },
  };
  await insertRows(context, requestObject(workspace.slug), [row]);
  return await viewIn(transaction, row.id, at);
}

export async function approveKeyRequest(
  context: ControlWrite,
  workspaceId: string,
  id: string,
  { approverId, changes }: { readonly approverId: string; readonly changes: BodyOf<"keyRequests.approve"> },
): Promise<KeyRequest> {
  const { transaction, at } = context;
  const { slug, ...row } = await requestIn(transaction, workspaceId, id);
  await refuseClosed(transaction, row, "pending", at);
  if (!(await mayOwnKeys(transaction, workspaceId, row.requester_id))) throw noMember();
  const granted = await checkedWanted(context, workspaceId, {
    ...(JSON.parse(row.requested) as Wanted),
    ...withoutUndefined(changes),
  });
  const other = await findKeyByName(transaction, workspaceId, granted.name);
  if (other !== null && other.revoked_at === null) {
    const message = `There is already a key called ${granted.name} in ${slug}. Approve the request with another name.`;
    throw new Failure("conflict", message, { param: "name" });
  }
  const expires_at = Math.min(at + bounds.keyRequestMs, granted.expires_at ?? Number.POSITIVE_INFINITY);
  const decided = { decided_by: approverId, decided_at: at, granted: JSON.stringify(granted), expires_at };
  const after = { ...row, ...decided, state: "approved" as const };
  await updateRow(context, requestObject(slug), { before: row, after, action: "approve" });
  return await viewIn(transaction, id, at);
}

export async function declineKeyRequest(
  context: ControlWrite,
  workspaceId: string,
  id: string,
  { deciderId, reason }: { readonly deciderId: string; readonly reason: string },
): Promise<KeyRequest> {
  const { transaction, at } = context;
  const { slug, ...row } = await requestIn(transaction, workspaceId, id);
  await refuseClosed(transaction, row, "pending", at);
  const after = { ...row, state: "declined" as const, reason, decided_by: deciderId, decided_at: at };
  await updateRow(context, requestObject(slug), { before: row, after, action: "decline" });
  return await viewIn(transaction, id, at);
}

/** The caller checks that the user is the requester, or an admin, who can withdraw approvals for other users. */
export async function withdrawKeyRequest(
  context: ControlWrite,
  workspaceId: string,
  id: string,
  userId: string,
): Promise<KeyRequest> {
  const { transaction, at } = context;
  const { slug, ...row } = await requestIn(transaction, workspaceId, id);
  const isOwn = row.requester_id === userId;
  if (!isOwn && row.state === "pending") {
    throw new Failure(
      "forbidden",
      "Only its requester can withdraw a request that is not decided. Decline it instead.",
    );
  }
  if (!isOpen(row, at)) await refuseClosed(transaction, row, "pending", at);
  await updateRow(context, requestObject(slug), {
    before: row,
    after: { ...row, state: "withdrawn" },
    action: "withdraw",
  });
  return await viewIn(transaction, id, at);
}

interface Collected {
  readonly userId: string;
  readonly secret: Secret;
  /** null: the approved name. */
  readonly name: string | null;
  /** The fields that only admins may widen. */
  readonly setByAdmins: (granted: GrantedKey) => readonly string[];
}

/** Creates the key of an approved request, with the requester as its owner. */
export async function collectKey(
  context: ControlWrite,
  workspaceId: string,
  id: string,
  { userId, secret, name, setByAdmins }: Collected,
): Promise<ConsoleKey> {
  const { transaction, at } = context;
  const { slug, ...row } = await requestIn(transaction, workspaceId, id);
  if (row.requester_id !== userId) {
    throw new Failure("forbidden", "Only the person who requested this key can collect it.");
  }
  await refuseClosed(transaction, row, "approved", at);
  const { granted } = await viewIn(transaction, id, at);
  const wanted = JSON.parse(row.granted ?? row.requested) as Wanted;
  const key = await addKey(context, workspaceId, {
    ...wanted,
    ...{ name: name ?? wanted.name, secret, createdBy: userId, owner: userId, approved: true },
    setByAdmins: granted === null ? [] : setByAdmins(granted),
  });
  const after = { ...row, state: "collected" as const, key_id: key.id };
  await updateRow(context, requestObject(slug), { before: row, after, action: "collect" });
  return key;
}

/** Withdraws the open requests of a user in workspaces where they may own no keys any more. */
export async function withdrawLostRequests(context: AuditedWrite, userId: string): Promise<void> {
  const { transaction } = context;
  const rows = await transaction
    .selectFrom("key_requests")
    .innerJoin("workspaces", "workspaces.id", "key_requests.workspace_id")
    .selectAll("key_requests")
    .select("workspaces.slug")
    .where("requester_id", "=", userId)
    .where("state", "in", openStates)
    .execute();
  for (const { slug, ...before } of rows) {
    if (await mayOwnKeys(transaction, before.workspace_id, userId)) continue;
    const after = { ...before, state: "withdrawn" as const };
    await updateRow(context, requestObject(slug), { before, after, action: "withdraw" });
  }
}

const openStates = ["pending", "approved"] as const;

function isOpen(row: RequestRow, now: number): boolean {
  return isOpenState(row.state) && row.expires_at > now;
}

function isOpenState(state: KeyRequestState): boolean {
  return state === "pending" || state === "approved";
}

function stateOf(row: RequestRow, now: number): KeyRequestState {
  return isOpenState(row.state) && row.expires_at <= now ? "expired" : row.state;
}

/** Stores the id of the group, so that the grant stays the same if the group is renamed. */
async function checkedWanted(
  { transaction, at }: ControlWrite,
  workspaceId: string,
  wanted: BodyOf<"keyRequests.approve"> & { readonly name: string },
): Promise<Wanted> {
  const { name, group = defaultGroupName, models = null, limits = {}, budget = null, expires_at = null } = wanted;
  refuseProblems(keyProblems({ name, expires_at }, { now: at, before: null }));
  refuseProblems(await budgetProblems(transaction, budget));
  const { id } = await groupOf(transaction, workspaceId, group);
  return { name, group: id, models, limits, budget, expires_at };
}

/** Throws `conflict` unless the request is in this state. */
async function refuseClosed(
  connection: Connection,
  row: RequestRow,
  needed: "pending" | "approved",
  now: number,
): Promise<void> {
  const state = stateOf(row, now);
  if (state === needed) return;
  const decider = row.decided_by === null ? undefined : await findRow(connection, "auth_users", { id: row.decided_by });
  const by = decider === undefined ? "" : ` by ${decider.email}`;
  const texts: Readonly<Record<KeyRequestState, string>> = {
    pending: "This request was not approved yet.",
    approved: `This request was already approved${by}.`,
    collected: "The key of this request was already collected.",
    declined: `This request was already declined${by}.`,
    withdrawn: "This request was withdrawn.",
    expired: "This request has expired.",
  };
  throw new Failure("conflict", texts[state]);
}

function requestRows(connection: Connection) {
  return connection
    .selectFrom("key_requests")
    .innerJoin("workspaces", "workspaces.id", "key_requests.workspace_id")
    .innerJoin("auth_users as requester", "requester.id", "key_requests.requester_id")
    .leftJoin("auth_users as decider", "decider.id", "key_requests.decided_by")
    .selectAll("key_requests")
    .select(["workspaces.slug", "requester.email", "requester.name as requester_name"])
    .select(["decider.email as decider_email", "decider.name as decider_name"]);
}

async function requestIn(connection: Connection, workspaceId: string, id: string) {
  const row = await connection
    .selectFrom("key_requests")
    .innerJoin("workspaces", "workspaces.id", "key_requests.workspace_id")
    .selectAll("key_requests")
    .select("workspaces.slug")
    .where("key_requests.id", "=", id)
    .where("key_requests.workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return orNotFound(row, "key request in this workspace", "request");
}

async function viewIn(connection: Connection, id: string, now: number): Promise<KeyRequest> {
  const [view] = await views(
    connection,
    await requestRows(connection).where("key_requests.id", "=", id).execute(),
    now,
  );
  return orNotFound(view, "key request in this workspace", "request");
}

async function views(
  connection: Connection,
  rows: readonly Awaited<ReturnType<ReturnType<typeof requestRows>["executeTakeFirstOrThrow"]>>[],
  now: number,
): Promise<readonly KeyRequest[]> {
  const wanted = rows.map(({ requested, granted }) => ({
    requested: JSON.parse(requested) as Wanted,
    granted: granted === null ? null : (JSON.parse(granted) as Wanted),
  }));
  const ids = new Set(wanted.flatMap(({ requested, granted }) => [requested.group, granted?.group ?? requested.group]));
  const groups = new Map((await findRows(connection, "groups", { id: [...ids] })).map(({ id, name }) => [id, name]));
  const grant = ({ group, ...fields }: Wanted): KeyRequest["requested"] => {
    const name = groups.get(group);
    return { ...fields, group: name === undefined ? null : { id: group, name } };
  };
  return rows.map((row, at) => {
    const { requested, granted } = wanted[at] as (typeof wanted)[number];
    const { id, purpose, reason, decided_at, created_at, expires_at } = row;
    return {
      ...{ id, purpose, reason, decided_at, created_at, expires_at, key: row.key_id, state: stateOf(row, now) },
      workspace: { id: row.workspace_id, slug: row.slug },
      requester: { id: row.requester_id, email: row.email, name: row.requester_name },
      requested: grant(requested),
      granted: granted === null ? null : grant(granted),
      decided_by:
        row.decided_by === null
          ? null
          : { id: row.decided_by, email: row.decider_email ?? "", name: row.decider_name ?? "" },
    };
  });
}

function requestObject(slug: string): AuditedObject<"key_requests"> {
  return {
    table: "key_requests",
    idColumn: "id",
    label: (row) => `key request ${slug}/${(JSON.parse(row.requested) as Wanted).name}`,
    view: ({ requested, granted, ...row }) => ({
      ...row,
      requested: JSON.parse(requested),
      granted: granted === null ? null : JSON.parse(granted),
    }),
    workspaceOf: (row) => row.workspace_id,
    notify: () => undefined,
  };
}

function noMember(): Failure {
  return new Failure("conflict", "The requester is not an active member of this workspace.");
}
