import type { SavedView } from "@sluice/contract/console";
import { Failure, orNotFound } from "#core/index.ts";
import { type AuditedObject, type Connection, insertRows, type Row, removeRows, updateRow } from "#storage/tables.ts";
import { findRow } from "../rows.ts";
import type { Directory, Write } from "../store.ts";

/** The most views of one user, in all workspaces. */
const viewsPerUserMax = 100;
/** The most views in one list, which includes the shared views of all users. */
const viewsListedMax = 500;

export type ViewFields = Pick<SavedView, "page" | "name" | "state" | "shared">;

/** The views that a user sees: their own, and the shared ones of the workspace. `workspaceId` null: views of all workspaces at once. */
export interface ViewScope {
  readonly workspaceId: string | null;
  readonly userId: string;
}

/** The user's own views, and the shared ones, by name. */
export async function savedViews(
  { database }: Directory,
  { workspaceId, userId }: ViewScope,
): Promise<readonly SavedView[]> {
  const rows = await ownedViews(database.kysely)
    .where("workspace_id", workspaceId === null ? "is" : "=", workspaceId)
    .where((eb) => eb.or([eb("owner_id", "=", userId), eb("shared", "=", 1)]))
    // The user's own first, so that the bound does not cut them off.
    .orderBy((eb) => eb.case().when("owner_id", "=", userId).then(0).else(1).end())
    .orderBy("saved_views.name")
    .orderBy("saved_views.id")
    .limit(viewsListedMax)
    .execute();
  return rows.map(viewOf).toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
}

export async function createView(
  context: Write,
  { workspaceId, userId }: ViewScope,
  { page, name, state, shared }: ViewFields,
): Promise<SavedView> {
  const { count } = await context.transaction
    .selectFrom("saved_views")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("owner_id", "=", userId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= viewsPerUserMax) {
    throw new Failure("conflict", `A user can have at most ${viewsPerUserMax} saved views. Delete one first.`);
  }
  const now = context.clock.now();
  const id = context.ids.next("view_");
  const row = { id, owner_id: userId, workspace_id: workspaceId, page, name, state, shared: shared ? 1 : 0 };
  await insertRows(context, viewObject, [{ ...row, created_at: now, updated_at: now }]);
  return await viewById(context, id);
}

/** `mayManage`: the caller may change what other users share. Returns the view, which the caller may no longer see. */
export async function updateView(
  context: Write,
  scope: ViewScope & { readonly mayManage: boolean },
  id: string,
  { shared, ...fields }: Partial<Omit<ViewFields, "page">>,
): Promise<SavedView> {
  const before = await changeableView(context, scope, id);
  const flag = shared === undefined ? {} : { shared: shared ? 1 : 0 };
  await updateRow(context, viewObject, {
    before,
    after: { ...before, ...fields, ...flag, updated_at: context.clock.now() },
  });
  return await viewById(context, id);
}

export async function removeView(
  context: Write,
  scope: ViewScope & { readonly mayManage: boolean },
  id: string,
): Promise<void> {
  await removeRows(context, viewObject, [await changeableView(context, scope, id)]);
}

async function changeableView(
  { transaction }: Write,
  { workspaceId, userId, mayManage }: ViewScope & { readonly mayManage: boolean },
  id: string,
): Promise<Row<"saved_views">> {
  const row = await findRow(transaction, "saved_views", { id });
  const isVisible =
    row !== undefined && row.workspace_id === workspaceId && (row.owner_id === userId || row.shared === 1);
  const view = orNotFound(isVisible ? row : null, "view", "view");
  if (view.owner_id === userId || mayManage) return view;
  throw new Failure("forbidden", "This view belongs to another user. Save your own.");
}

function ownedViews(connection: Connection) {
  return connection
    .selectFrom("saved_views")
    .leftJoin("auth_users", "auth_users.id", "saved_views.owner_id")
    .selectAll("saved_views")
    .select(["auth_users.email", "auth_users.name as owner_name"]);
}

async function viewById({ transaction }: Write, id: string): Promise<SavedView> {
  return viewOf(await ownedViews(transaction).where("saved_views.id", "=", id).executeTakeFirstOrThrow());
}

type OwnedView = Row<"saved_views"> & { readonly email: string | null; readonly owner_name: string | null };

function viewOf({ id, page, name, state, shared, created_at, updated_at, ...row }: OwnedView): SavedView {
  const owner = { id: row.owner_id, email: row.email ?? "", name: row.owner_name ?? "" };
  return { id, page, name, state, shared: shared === 1, owner, created_at, updated_at };
}

const viewObject: AuditedObject<"saved_views"> = {
  table: "saved_views",
  idColumn: "id",
  label: (row) => `saved view ${row.name}`,
  view: ({ page, name, state, shared }) => ({ page, name, state, shared: shared === 1 }),
  workspaceOf: (row) => row.workspace_id,
  notify: () => undefined,
};
