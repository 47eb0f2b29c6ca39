import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { ConsoleGroup, ConsoleWorkspace } from "@sluice/contract/console";
import type { Conflict } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import { type AuditedObject, budgetOf, type Connection, chunksOf, limitsOf, type Row } from "#storage/tables.ts";

/** A workspace as it is stored, without the role of the user who asks. */
export type StoredWorkspace = Omit<ConsoleWorkspace, "role">;

/** A field that is left out does not change. In a new object: all models, no pass-through, no limits. */
export interface ScopeChange {
  readonly models?: readonly string[] | undefined;
  readonly pass_through?: readonly string[] | undefined;
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | null | undefined;
}

export type WorkspaceRow = Row<"workspaces">;
export type GroupRow = Row<"groups">;

/** The patterns of a new workspace or group. */
export const everyModel = JSON.stringify(["*"]);

/** Its grant to pass through. */
export const noProvider = "[]";

/** Workspaces as every writer writes them. */
export const workspaceObject: AuditedObject<"workspaces"> = {
  table: "workspaces",
  idColumn: "id",
  label: (row) => `workspace ${row.slug}`,
  view: (row) => scopeView(row),
  workspaceOf: (row) => row.id,
  notify: (log) => log.configChanged(),
};

/** Groups as every writer writes them. `slugs`: of their workspaces, by id. */
export function groupObject(slugs: ReadonlyMap<string, string>): AuditedObject<"groups"> {
  return {
    table: "groups",
    idColumn: "id",
    label: (row) => `group ${slugs.get(row.workspace_id) ?? row.workspace_id}/${row.name}`,
    view: (row) => scopeView(row),
    workspaceOf: (row) => row.workspace_id,
    notify: (log) => log.configChanged(),
  };
}

function scopeView(row: WorkspaceRow | GroupRow) {
  return {
    ...row,
    models: JSON.parse(row.models),
    pass_through: JSON.parse(row.pass_through),
    limits: JSON.parse(row.limits),
    budget: row.budget === null ? null : JSON.parse(row.budget),
  };
}

/** Workspaces with how much is in each: groups, keys in use, members. */
export function countedWorkspaces(connection: Connection) {
  return connection
    .selectFrom("workspaces")
    .selectAll("workspaces")
    .select((eb) => [
      eb
        .selectFrom("groups")
        .whereRef("groups.workspace_id", "=", "workspaces.id")
        .select((e) => e.fn.countAll<number>().as("n"))
        .as("groups"),
      eb
        .selectFrom("api_keys")
        .whereRef("api_keys.workspace_id", "=", "workspaces.id")
        .where("api_keys.revoked_at", "is", null)
        .where("api_keys.managed_by", "!=", "suspended")
        .select((e) => e.fn.countAll<number>().as("n"))
        .as("keys"),
      eb
        .selectFrom("members")
        .whereRef("members.workspace_id", "=", "workspaces.id")
        .select((e) => e.fn.countAll<number>().as("n"))
        .as("members"),
    ]);
}

type CountedWorkspaceRow = WorkspaceRow & {
  readonly groups: number | null;
  readonly keys: number | null;
  readonly members: number | null;
};

export function storedWorkspace(row: CountedWorkspaceRow): StoredWorkspace {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    enabled: row.enabled === 1,
    models: JSON.parse(row.models),
    pass_through: JSON.parse(row.pass_through),
    limits: limitsOf(row),
    budget: budgetOf(row),
    groups: Number(row.groups),
    keys: Number(row.keys),
    members: Number(row.members),
    managed_by: row.managed_by,
    created_at: row.created_at,
  };
}

export function consoleGroup(row: GroupRow, keys: number): ConsoleGroup {
  return {
    id: row.id,
    name: row.name,
    models: JSON.parse(row.models),
    pass_through: JSON.parse(row.pass_through),
    limits: limitsOf(row),
    budget: budgetOf(row),
    keys,
    managed_by: row.managed_by,
    created_at: row.created_at,
  };
}

/** The workspace of a write, which its row in the transaction is looked up for. */
export async function workspaceRow(connection: Connection, id: string): Promise<WorkspaceRow> {
  const row = await connection.selectFrom("workspaces").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
  return row;
}

/** The same by id or name. Throws `not_found` when there is none. */
export async function groupRow(connection: Connection, workspaceId: string, idOrName: string): Promise<GroupRow> {
  const row = await groupIn(connection, workspaceId, idOrName);
  if (row === null) throw new Failure("not_found", "There is no such group in this workspace.", { param: "group" });
  return row;
}

/** A group of this workspace, by id or name; null when there is none. An id always holds `_`, which no name does. */
export async function groupIn(connection: Connection, workspaceId: string, idOrName: string): Promise<GroupRow | null> {
  const row = await connection
    .selectFrom("groups")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where((eb) => eb.or([eb("id", "=", idOrName), eb("name", "=", idOrName)]))
    .executeTakeFirst();
  return row ?? null;
}

/**
 * A grant names a provider that is there, so that a mistyped one is heard of and none waits for somebody who makes it later.
 * `before` was granted already and may be sent back with the rest.
 */
export async function grantFaults(
  connection: Connection,
  granted: readonly string[] | undefined,
  before: readonly string[] = [],
): Promise<readonly Pick<Conflict, "path" | "message">[]> {
  const known = new Set(before);
  const asked = [...new Set(granted)].filter((id) => !known.has(id));
  for (const chunk of chunksOf(asked)) {
    const rows = await connection
      .selectFrom("providers")
      .select("id")
      .where("id", "in", [...chunk])
      .where("managed_by", "!=", "suspended")
      .execute();
    for (const { id } of rows) known.add(id);
  }
  return (granted ?? []).flatMap((id, at) =>
    known.has(id) ? [] : [{ path: ["pass_through", at], message: `there is no provider "${id}"` }],
  );
}

export async function refuseUnknownProviders(
  connection: Connection,
  granted: readonly string[] | undefined,
  before: readonly string[] = [],
): Promise<void> {
  const [fault] = await grantFaults(connection, granted, before);
  if (fault === undefined) return;
  const param = fault.path.join(".");
  throw new Failure("invalid_request", `\`${param}\`: ${fault.message}.`, { param });
}
