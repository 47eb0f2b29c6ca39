import type { PlaygroundSession, PlaygroundShare } from "@sluice/contract/console";
import { Failure, maskSecrets, orNotFound } from "#core/index.ts";
import { type AuditedObject, type Connection, insertRows, type Row, removeRows } from "#storage/tables.ts";
import type { Directory, Write } from "../store.ts";

const perUserMax = 50;
const listedMax = 500;
const dayMs = 86_400_000;

interface Place {
  readonly workspaceId: string;
  readonly userId: string;
}

/** Shared sessions that have not expired, newest first. `userId` null: of every user. */
export async function playgroundShares(
  { database, clock }: Directory,
  workspaceId: string,
  userId: string | null,
): Promise<readonly PlaygroundShare[]> {
  let query = openShares(database.kysely, workspaceId, clock.now());
  if (userId !== null) query = query.where("owner_id", "=", userId);
  return (await query.orderBy("playground_shares.id", "desc").limit(listedMax).execute()).map(shareOf);
}

export async function playgroundShare(
  { database, clock }: Directory,
  workspaceId: string,
  id: string,
): Promise<PlaygroundShare & { readonly session: PlaygroundSession }> {
  const row = await openShare(database.kysely, workspaceId, id, clock.now());
  return { ...shareOf(row), session: JSON.parse(row.session) as PlaygroundSession };
}

/** Secrets in the session are masked. Expired sessions of the workspace are deleted. */
export async function createPlaygroundShare(
  context: Write,
  { workspaceId, userId }: Place,
  session: PlaygroundSession,
  days: number,
): Promise<PlaygroundShare> {
  const { transaction, clock, ids } = context;
  const now = clock.now();
  const place = transaction.deleteFrom("playground_shares").where("workspace_id", "=", workspaceId);
  await place.where("expires_at", "<=", now).execute();
  const { count } = await transaction
    .selectFrom("playground_shares")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("workspace_id", "=", workspaceId)
    .where("owner_id", "=", userId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= perUserMax) {
    throw new Failure("conflict", `A user can share at most ${perUserMax} sessions in a workspace. Delete one first.`);
  }
  const id = ids.next("share_");
  const row = {
    id,
    workspace_id: workspaceId,
    owner_id: userId,
    models: JSON.stringify(session.models),
    created_at: now,
  };
  const text = JSON.stringify(masked(session));
  await insertRows(context, shareObject, [{ ...row, session: text, expires_at: now + days * dayMs }]);
  return shareOf(await openShare(transaction, workspaceId, id, now));
}

/** `mayManage`: also sessions of other users. */
export async function removePlaygroundShare(
  context: Write,
  { workspaceId, userId, mayManage }: Place & { readonly mayManage: boolean },
  id: string,
): Promise<void> {
  const share = await openShare(context.transaction, workspaceId, id, context.clock.now());
  if (share.owner_id !== userId && !mayManage) {
    throw new Failure("forbidden", "Only its owner and admins of the workspace can stop sharing a session.");
  }
  const { email: _email, owner_name: _name, ...row } = share;
  await removeRows(context, shareObject, [row]);
}

function masked(session: PlaygroundSession): PlaygroundSession {
  const { messages, system, stop, tools, more } = session;
  return {
    ...session,
    messages: messages.map(maskSecrets),
    system: maskSecrets(system),
    stop: stop.map(maskSecrets),
    tools: maskSecrets(tools),
    more: maskSecrets(more),
  };
}

function openShares(connection: Connection, workspaceId: string, now: number) {
  return connection
    .selectFrom("playground_shares")
    .leftJoin("auth_users", "auth_users.id", "playground_shares.owner_id")
    .selectAll("playground_shares")
    .select(["auth_users.email", "auth_users.name as owner_name"])
    .where("workspace_id", "=", workspaceId)
    .where("playground_shares.expires_at", ">", now);
}

async function openShare(connection: Connection, workspaceId: string, id: string, now: number): Promise<OwnedShare> {
  const row = await openShares(connection, workspaceId, now).where("playground_shares.id", "=", id).executeTakeFirst();
  return orNotFound(row ?? null, "shared session");
}

type OwnedShare = Row<"playground_shares"> & { readonly email: string | null; readonly owner_name: string | null };

function shareOf({ id, owner_id, email, owner_name, models, created_at, expires_at }: OwnedShare): PlaygroundShare {
  const owner = { id: owner_id, email: email ?? "", name: owner_name ?? "" };
  return { id, owner, models: modelsOf({ models }), created_at, expires_at };
}

function modelsOf({ models }: Pick<OwnedShare, "models">): string[] {
  return JSON.parse(models) as string[];
}

/** The audit log does not have the messages. */
const shareObject: AuditedObject<"playground_shares"> = {
  table: "playground_shares",
  idColumn: "id",
  label: (row) => `playground session ${modelsOf(row).join(", ")}`,
  view: ({ id, models, expires_at }) => ({ id, models: modelsOf({ models }), expires_at }),
  workspaceOf: (row) => row.workspace_id,
  notify: () => undefined,
};
