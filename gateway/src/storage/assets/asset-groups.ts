import type { AssetStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { cursorOf, cutPage, isBehind, pageSize, placeOf } from "../database/pages.ts";
import { groupOf, groupRow } from "./asset-columns.ts";

type GroupStore = Pick<AssetStore, "createGroup" | "findGroup" | "groups" | "updateGroup" | "deleteGroup">;

export function assetGroups({ kysely }: Database): GroupStore {
  return {
    async createGroup(group) {
      await kysely.insertInto("asset_groups").values(groupRow(group)).execute();
    },
    async findGroup(workspaceId, id) {
      const row = await kysely
        .selectFrom("asset_groups")
        .selectAll()
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      return row === undefined ? null : groupOf(row);
    },
    async groups(filter, cursor, limit) {
      const size = pageSize(limit);
      const after = cursor === null ? null : placeOf(cursor);
      let query = kysely
        .selectFrom("asset_groups")
        .selectAll()
        .where("workspace_id", "=", filter.workspaceId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(size + 1);
      if (filter.platform !== undefined) query = query.where("platform", "=", filter.platform);
      if (after !== null) {
        query = query.where(isBehind(["created_at", "id"], after));
      }
      const rows = await query.execute();
      const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.created_at, id: last.id }));
      return { groups: page.map(groupOf), next };
    },
    async updateGroup(id, change) {
      const columns = {
        ...(change.providerId === undefined ? {} : { provider_id: change.providerId }),
        ...(change.upstreamId === undefined ? {} : { upstream_id: change.upstreamId }),
        ...(change.updatedAt === undefined ? {} : { updated_at: change.updatedAt }),
      };
      if (Object.keys(columns).length === 0) return;
      await kysely.updateTable("asset_groups").set(columns).where("id", "=", id).execute();
    },
    // Its assets and their bindings go with it in the same statement: the tables say so.
    async deleteGroup(workspaceId, id) {
      const result = await kysely
        .deleteFrom("asset_groups")
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}
