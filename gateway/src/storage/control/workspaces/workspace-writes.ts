import { defaultGroupName, nameLettersMax, slugPattern, slugRule } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { WorkspaceListing } from "#ports/index.ts";
import { ChangeLog } from "../../changes/change-log.ts";
import type { Connection } from "../../database/database.ts";
import { scopeColumns } from "../../database/scope-columns.ts";
import type { ControlOptions } from "../config-file/apply-config.ts";
import { everyModel, noProvider, scopeView } from "./tenant-rows.ts";

export async function listWorkspaces(connection: Connection): Promise<readonly WorkspaceListing[]> {
  const workspaces = await connection.selectFrom("workspaces").selectAll().orderBy("slug").execute();
  const groups = await connection.selectFrom("groups").select(["workspace_id", "name"]).orderBy("name").execute();
  const counts = await connection
    .selectFrom("api_keys")
    .select("workspace_id")
    .select((eb) => eb.fn.countAll<number>().as("keys"))
    .groupBy("workspace_id")
    .execute();
  const names = Map.groupBy(groups, (group) => group.workspace_id);
  const keys = new Map(counts.map((row) => [row.workspace_id, Number(row.keys)]));
  return workspaces.map((row) => ({
    id: row.id,
    slug: row.slug,
    name: row.name,
    groups: (names.get(row.id) ?? []).map((group) => group.name),
    keys: keys.get(row.id) ?? 0,
    managedBy: row.managed_by,
  }));
}

/** A workspace with its group `default`, both managed in the console, that may call every model. */
export async function createWorkspace(
  options: ControlOptions,
  slug: string,
  name: string,
  actor: string,
): Promise<WorkspaceListing> {
  if (!slugPattern.test(slug)) throw new Failure("invalid_request", `slug: ${slugRule}`, { param: "slug" });
  if (name === "" || name.length > nameLettersMax) {
    throw new Failure("invalid_request", `name: 1 to ${nameLettersMax} letters`, { param: "name" });
  }
  const at = options.clock.now();
  const common = {
    models: everyModel,
    pass_through: noProvider,
    ...scopeColumns(undefined, null),
    managed_by: "console" as const,
    created_at: at,
  };
  const workspace = { id: options.ids.next("ws_"), slug, name, ...common, enabled: 1 };
  const group = { id: options.ids.next("grp_"), workspace_id: workspace.id, name: defaultGroupName, ...common };
  await options.database.kysely.transaction().execute(async (transaction) => {
    const taken = await transaction.selectFrom("workspaces").select("id").where("slug", "=", slug).executeTakeFirst();
    if (taken !== undefined) {
      throw new Failure("invalid_request", `There is already a workspace called ${slug}.`, { param: "slug" });
    }
    await transaction.insertInto("workspaces").values(workspace).execute();
    await transaction.insertInto("groups").values(group).execute();
    const log = new ChangeLog(actor, at);
    log.record("create", `workspace ${slug}`, null, scopeView(workspace), workspace.id);
    log.record("create", `group ${slug}/${defaultGroupName}`, null, scopeView(group), workspace.id);
    log.catalogChanged();
    await log.write(transaction);
  });
  return { id: workspace.id, slug, name, groups: [defaultGroupName], keys: 0, managedBy: "console" };
}
