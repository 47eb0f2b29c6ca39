import { defaultGroupName } from "@sluice/contract/words";
import { Failure, nameCursor, nameOfCursor } from "#core/index.ts";
import type {
  NewWorkspace,
  Paged,
  StoredWorkspace,
  TenantStore,
  WorkspaceChange,
  WorkspaceFilter,
} from "#ports/index.ts";
import { ChangeLog } from "../../changes/change-log.ts";
import type { Connection } from "../../database/database.ts";
import { changedScope, patternsText, scopeColumns } from "../../database/scope-columns.ts";
import type { ControlOptions } from "../config-file/apply-config.ts";
import {
  countedWorkspaces,
  everyModel,
  holdsText,
  noProvider,
  refuseFileOwned,
  scopeView,
  storedWorkspace,
  type WorkspaceRow,
  workspaceRow,
} from "./tenant-rows.ts";
import { forgetWorkspace, refuseWorkspaceInUse } from "./workspace-removal.ts";

type WorkspacePart = Pick<
  TenantStore,
  "workspaces" | "workspace" | "addWorkspace" | "updateWorkspace" | "removeWorkspace"
>;

export function tenantWorkspaces(options: ControlOptions): WorkspacePart {
  const { kysely } = options.database;
  return {
    workspaces: (filter, cursor, limit) => workspacePage(kysely, filter, { cursor, limit }),
    async workspace(id) {
      const row = await countedWorkspaces(kysely).where("workspaces.id", "=", id).executeTakeFirst();
      return row === undefined ? null : storedWorkspace(row);
    },
    addWorkspace: (workspace, auditSource) => addWorkspace(options, workspace, auditSource),
    updateWorkspace: (id, change, auditSource) => updateWorkspace(options, id, change, auditSource),
    removeWorkspace: (id, auditSource) => removeWorkspace(options, id, auditSource),
  };
}

async function workspacePage(
  connection: Connection,
  filter: WorkspaceFilter,
  page: { readonly cursor: string | null; readonly limit: number },
): Promise<Paged<StoredWorkspace>> {
  if (filter.ids?.length === 0) return { data: [], next: null };
  let query = countedWorkspaces(connection)
    .orderBy("workspaces.slug")
    .limit(page.limit + 1);
  if (filter.ids !== null) query = query.where("workspaces.id", "in", filter.ids);
  const { search } = filter;
  if (search !== undefined && search !== "") {
    query = query.where((eb) => eb.or([holdsText("workspaces.slug", search), holdsText("workspaces.name", search)]));
  }
  if (page.cursor !== null) query = query.where("workspaces.slug", ">", nameOfCursor(page.cursor));
  const rows = await query.execute();
  const data = rows.slice(0, page.limit).map(storedWorkspace);
  const last = data.at(-1);
  return { data, next: rows.length > page.limit && last !== undefined ? nameCursor(last.slug) : null };
}

async function addWorkspace(
  options: ControlOptions,
  wanted: NewWorkspace,
  auditSource: Parameters<TenantStore["addWorkspace"]>[1],
): Promise<StoredWorkspace> {
  const at = options.clock.now();
  const common = { managed_by: "console" as const, created_at: at };
  const workspace: WorkspaceRow = {
    id: options.ids.next("ws_"),
    slug: wanted.slug,
    name: wanted.name ?? wanted.slug,
    models: patternsText(wanted.models) ?? everyModel,
    pass_through: JSON.stringify(wanted.pass_through ?? []),
    ...scopeColumns(wanted.limits, wanted.budget),
    enabled: 1,
    ...common,
  };
  const group = {
    id: options.ids.next("grp_"),
    workspace_id: workspace.id,
    name: defaultGroupName,
    models: everyModel,
    pass_through: noProvider,
    ...scopeColumns(undefined, null),
    ...common,
  };
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const taken = await transaction
      .selectFrom("workspaces")
      .select("id")
      .where("slug", "=", workspace.slug)
      .executeTakeFirst();
    if (taken !== undefined) {
      throw new Failure("conflict", `There is already a workspace called ${workspace.slug}.`, { param: "slug" });
    }
    await transaction.insertInto("workspaces").values(workspace).execute();
    await transaction.insertInto("groups").values(group).execute();
    const log = new ChangeLog(auditSource, at);
    log.record("create", `workspace ${workspace.slug}`, null, scopeView(workspace), workspace.id);
    log.record("create", `group ${workspace.slug}/${group.name}`, null, scopeView(group), workspace.id);
    log.catalogChanged();
    await log.write(transaction);
    return storedWorkspace({ ...workspace, groups: 1, keys: 0, members: 0 });
  });
}

async function updateWorkspace(
  options: ControlOptions,
  id: string,
  change: WorkspaceChange,
  auditSource: Parameters<TenantStore["updateWorkspace"]>[2],
): Promise<StoredWorkspace> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const before = await workspaceRow(transaction, id);
    refuseFileOwned(before, `workspace ${before.slug}`);
    const after: WorkspaceRow = {
      ...before,
      name: change.name ?? before.name,
      models: patternsText(change.models) ?? before.models,
      pass_through: patternsText(change.pass_through) ?? before.pass_through,
      ...changedScope(before, change),
      enabled: change.enabled === undefined ? before.enabled : Number(change.enabled),
    };
    const views = [scopeView(before), scopeView(after)] as const;
    if (JSON.stringify(views[0]) !== JSON.stringify(views[1])) {
      const log = new ChangeLog(auditSource, options.clock.now());
      await transaction.updateTable("workspaces").set(after).where("id", "=", id).execute();
      log.record("update", `workspace ${before.slug}`, ...views, id);
      log.catalogChanged();
      await log.write(transaction);
    }
    return storedWorkspace(
      await countedWorkspaces(transaction).where("workspaces.id", "=", id).executeTakeFirstOrThrow(),
    );
  });
}

async function removeWorkspace(
  options: ControlOptions,
  id: string,
  auditSource: Parameters<TenantStore["removeWorkspace"]>[1],
): Promise<void> {
  await options.database.kysely.transaction().execute(async (transaction) => {
    const row = await workspaceRow(transaction, id);
    refuseFileOwned(row, `workspace ${row.slug}`);
    await refuseWorkspaceInUse(transaction, row);
    const log = new ChangeLog(auditSource, options.clock.now());
    await forgetWorkspace(transaction, row, log);
    await log.write(transaction);
  });
}
