import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { ConsoleGroup, ConsoleWorkspace } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import {
  type AuditedObject,
  budgetOf,
  type Connection,
  changedScope,
  limitsOf,
  patternsText,
  type Row,
  scopeColumns,
} from "#storage/tables.ts";
import type { Problem } from "../refusals.ts";
import { findRow, findRows, not } from "../rows.ts";
import type { ControlWrite } from "../store.ts";

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
const everyModel = JSON.stringify(["*"]);

/** Workspaces as every writer writes them. */
export const workspaceObject: AuditedObject<"workspaces"> = {
  table: "workspaces",
  idColumn: "id",
  label: (row) => `workspace ${row.slug}`,
  view: (row) => scopeView(row),
  workspaceOf: (row) => row.id,
  notify: (log) => log.configChanged(),
};

/** A new workspace, or what the config file makes of one. */
export function workspaceRow(
  context: ControlWrite,
  fields: ScopeChange & {
    readonly slug: string;
    readonly name?: string | undefined;
    readonly enabled?: boolean | undefined;
  },
  before?: WorkspaceRow,
): WorkspaceRow {
  return {
    ...scopeRow(context, "ws_", fields, before),
    slug: fields.slug,
    name: fields.name ?? fields.slug,
    enabled: fields.enabled === false ? 0 : 1,
  };
}

/** A new group, or what the config file makes of one. */
export function groupRow(
  context: ControlWrite,
  fields: ScopeChange & { readonly name: string },
  workspaceId: string,
  before?: GroupRow,
): GroupRow {
  return { ...scopeRow(context, "grp_", fields, before), workspace_id: workspaceId, name: fields.name };
}

function scopeRow(
  context: ControlWrite,
  prefix: "ws_" | "grp_",
  { models, pass_through, limits, budget }: ScopeChange,
  before: WorkspaceRow | GroupRow | undefined,
) {
  return {
    id: before?.id ?? context.ids.next(prefix),
    models: patternsText(models) ?? everyModel,
    pass_through: JSON.stringify(pass_through ?? []),
    ...scopeColumns(limits, budget),
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

/** What a change makes of the grants and limits of a workspace or a group. */
export function changedGrants(before: WorkspaceRow | GroupRow, change: ScopeChange) {
  return {
    models: patternsText(change.models) ?? before.models,
    pass_through: patternsText(change.pass_through) ?? before.pass_through,
    ...changedScope(before, change),
  };
}

/** Groups as every writer writes them. `slugs`: of the workspace, or of several by id. */
export function groupObject(slugs: string | ReadonlyMap<string, string>): AuditedObject<"groups"> {
  return {
    table: "groups",
    idColumn: "id",
    label: (row) => `group ${slugIn(slugs, row.workspace_id)}/${row.name}`,
    view: (row) => scopeView(row),
    workspaceOf: (row) => row.workspace_id,
    notify: (log) => log.configChanged(),
  };
}

export function slugIn(slugs: string | ReadonlyMap<string, string>, workspaceId: string): string {
  return typeof slugs === "string" ? slugs : (slugs.get(workspaceId) ?? workspaceId);
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

type CountedWorkspaceRow = WorkspaceRow & Record<"groups" | "keys" | "members", number | null>;

export function storedWorkspace(row: CountedWorkspaceRow): StoredWorkspace {
  const counts = { groups: Number(row.groups), keys: Number(row.keys), members: Number(row.members) };
  return { ...shownScope(row), slug: row.slug, enabled: row.enabled === 1, ...counts };
}

export function consoleGroup(row: GroupRow, keys: number): ConsoleGroup {
  return { ...shownScope(row), keys };
}

/** What a workspace and a group are both shown with. */
function shownScope(row: WorkspaceRow | GroupRow) {
  const { id, name, managed_by, created_at } = row;
  return {
    ...{ id, name, managed_by, created_at },
    models: JSON.parse(row.models) as string[],
    pass_through: JSON.parse(row.pass_through) as string[],
    limits: limitsOf(row),
    budget: budgetOf(row),
  };
}

/** The workspace of a write, which its row in the transaction is looked up for. */
export async function workspaceOf(connection: Connection, id: string): Promise<WorkspaceRow> {
  const row = await findRow(connection, "workspaces", { id });
  if (row === undefined) throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
  return row;
}

/** The same by id or name. Throws `not_found` when there is none. */
export async function groupOf(connection: Connection, workspaceId: string, idOrName: string): Promise<GroupRow> {
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

/** The group `default`, else the first by name. `going`: a group to leave out. */
export async function firstGroup(
  connection: Connection,
  workspaceId: string,
  going: string | null = null,
): Promise<GroupRow | undefined> {
  const groups = await findRows(connection, "groups", { workspace_id: workspaceId, id: not(going) }, "name");
  return groups.find(({ name }) => name === defaultGroupName) ?? groups[0];
}

/**
 * A grant names a provider that is there, so that a mistyped one is heard of and none waits for somebody who makes it later.
 * `before` was granted already and may be sent back with the rest.
 */
export async function grantProblems(
  connection: Connection,
  granted: readonly string[] | undefined,
  before: readonly string[] = [],
): Promise<readonly Problem[]> {
  const known = new Set(before);
  const asked = [...new Set(granted)].filter((id) => !known.has(id));
  const rows = await findRows(connection, "providers", { id: asked, managed_by: not("suspended") });
  for (const { id } of rows) known.add(id);
  return (granted ?? []).flatMap((id, at) =>
    known.has(id) ? [] : [{ path: ["pass_through", at], message: `there is no provider "${id}"` }],
  );
}
