import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { ConsoleGroup, ConsoleWorkspace } from "@sluice/contract/console";
import { defaultGroupName } from "@sluice/contract/words";
import { orNotFound } from "#core/index.ts";
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

/** A workspace without the role of the caller. */
export type StoredWorkspace = Omit<ConsoleWorkspace, "role">;

/** A field that is left out does not change. In a new object: all models, no pass-through, no limits. */
export interface ScopeChange {
  readonly models?: readonly string[] | undefined;
  readonly enforce_models?: boolean | undefined;
  readonly pass_through?: readonly string[] | undefined;
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | null | undefined;
}

export type WorkspaceRow = Row<"workspaces">;
export type GroupRow = Row<"groups">;

const everyModel = JSON.stringify(["*"]);

export const workspaceObject: AuditedObject<"workspaces"> = {
  table: "workspaces",
  idColumn: "id",
  label: (row) => `workspace ${row.slug}`,
  view: scopeView,
  workspaceOf: (row) => row.id,
  notify: (log) => log.configChanged(),
};

/** `before` undefined: a new workspace. */
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

/** `before` undefined: a new group. */
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
  { models, enforce_models, pass_through, limits, budget }: ScopeChange,
  before: WorkspaceRow | GroupRow | undefined,
) {
  return {
    id: before?.id ?? context.ids.next(prefix),
    models: patternsText(models) ?? everyModel,
    enforce_models: enforce_models === false ? 0 : 1,
    pass_through: JSON.stringify(pass_through ?? []),
    ...scopeColumns(limits, budget),
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

export function changedGrants(before: WorkspaceRow | GroupRow, change: ScopeChange) {
  return {
    models: patternsText(change.models) ?? before.models,
    enforce_models: change.enforce_models === undefined ? before.enforce_models : Number(change.enforce_models),
    pass_through: patternsText(change.pass_through) ?? before.pass_through,
    ...changedScope(before, change),
  };
}

/** `slugs`: the workspace's slug, or the slugs of several workspaces by id. */
export function groupObject(slugs: string | ReadonlyMap<string, string>): AuditedObject<"groups"> {
  return {
    table: "groups",
    idColumn: "id",
    label: (row) => `group ${slugIn(slugs, row.workspace_id)}/${row.name}`,
    view: scopeView,
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

/** Workspaces with the numbers of their groups, keys in use and members. */
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
  return { ...consoleScope(row), slug: row.slug, enabled: row.enabled === 1, ...counts };
}

export function consoleGroup(row: GroupRow, keys: number): ConsoleGroup {
  return { ...consoleScope(row), keys };
}

function consoleScope(row: WorkspaceRow | GroupRow) {
  const { id, name, managed_by, created_at } = row;
  return {
    ...{ id, name, managed_by, created_at },
    models: JSON.parse(row.models) as string[],
    enforce_models: row.enforce_models === 1,
    pass_through: JSON.parse(row.pass_through) as string[],
    limits: limitsOf(row),
    budget: budgetOf(row),
  };
}

/** Throws `not_found` when there is no such workspace. */
export async function workspaceOf(connection: Connection, id: string): Promise<WorkspaceRow> {
  return orNotFound(await findRow(connection, "workspaces", { id }), "workspace");
}

/** Throws `not_found` when there is no such group. */
export async function groupOf(connection: Connection, workspaceId: string, idOrName: string): Promise<GroupRow> {
  return orNotFound(await groupIn(connection, workspaceId, idOrName), "group in this workspace", "group");
}

/** Finds a group by id or name. They cannot collide: only ids contain `_`. */
export async function groupIn(connection: Connection, workspaceId: string, idOrName: string) {
  return await connection
    .selectFrom("groups")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where((eb) => eb.or([eb("id", "=", idOrName), eb("name", "=", idOrName)]))
    .executeTakeFirst();
}

/** The group `default`, else the first by name. */
export async function firstGroup(connection: Connection, workspaceId: string, exceptId: string | null = null) {
  const groups = await findRows(connection, "groups", { workspace_id: workspaceId, id: not(exceptId) }, "name");
  return groups.find(({ name }) => name === defaultGroupName) ?? groups[0];
}

/** Grants must name existing providers. Names in `before` may stay, even if their provider is gone. */
export async function grantProblems(
  connection: Connection,
  granted: readonly string[] | undefined,
  before: readonly string[] = [],
): Promise<readonly Problem[]> {
  const added = (granted ?? []).filter((id) => !before.includes(id));
  const rows = await findRows(connection, "providers", { id: added, managed_by: not("suspended") });
  const valid = new Set([...before, ...rows.map(({ id }) => id)]);
  return (granted ?? []).flatMap((id, at) =>
    valid.has(id) ? [] : [{ path: ["pass_through", at], message: `there is no provider "${id}"` }],
  );
}
