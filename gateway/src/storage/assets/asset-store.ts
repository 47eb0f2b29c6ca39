import { Failure } from "#core/index.ts";
import type { AssetStore, BlobOwner } from "#ports/index.ts";
import { type Database, heldRows, relaxedWrite } from "../database/database.ts";
import { underDueLease, updateDue } from "../database/leases.ts";
import { cursorOf, cutPage, isBehind, pageSize, placeOf } from "../database/pages.ts";
import { assetChanges, assetOf, assetRow, bindingOf, bindingRow, groupOf, groupRow } from "./asset-columns.ts";

interface AssetStoreOptions {
  readonly database: Database;
}

/** Groups, assets and bindings on a database. Any number of them, in any process, may use the same one. */
export function createAssetStore({ database }: AssetStoreOptions): AssetStore {
  return { ...assetGroups(database), ...assets(database), ...bindings(database) };
}

type AssetPart = Pick<AssetStore, "createAsset" | "findAsset" | "assets" | "updateAsset" | "deleteAsset"> &
  Pick<AssetStore, "dueAssets" | "nextDueAsset" | "blobUses">;

function assets(database: Database): AssetPart {
  const { kysely } = database;
  return {
    async createAsset(asset) {
      await kysely.transaction().execute(async (transaction) => {
        // It may have been deleted since the caller looked.
        const query = transaction
          .selectFrom("asset_groups")
          .select("id")
          .where("id", "=", asset.groupId)
          .where("workspace_id", "=", asset.workspaceId);
        const group = await heldRows(database, query).executeTakeFirst();
        if (group === undefined) throw new Failure("asset_group_not_found", `No asset group ${asset.groupId}.`);
        await transaction.insertInto("assets").values(assetRow(asset)).execute();
      });
    },
    async findAsset(workspaceId, id) {
      const row = await kysely
        .selectFrom("assets")
        .selectAll()
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      return row === undefined ? null : assetOf(row);
    },
    assets: (filter, cursor, limit) => assetPage(database, { filter, cursor, limit }),
    async updateAsset(id, change, still = {}) {
      const columns = assetChanges(change);
      if (Object.keys(columns).length === 0) return true;
      let update = kysely.updateTable("assets").set(columns).where("id", "=", id);
      if (still.dueAt !== undefined) update = update.where(underDueLease(still.dueAt));
      if (still.status !== undefined) update = update.where("status", "=", still.status);
      const { numUpdatedRows } = await update.executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async deleteAsset(workspaceId, id) {
      const result = await kysely
        .deleteFrom("assets")
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
    dueAssets: (now, leaseMs, limit) => leaseAssets(database, { now, leaseMs, limit }),
    nextDueAsset: () => nextDueAsset(database),
    blobUses: (hash, but) => usesOf(database, hash, but),
  };
}

type AssetQuery = {
  readonly filter: Parameters<AssetStore["assets"]>[0];
  readonly cursor: string | null;
  readonly limit: number;
};

async function assetPage({ kysely }: Database, query: AssetQuery): ReturnType<AssetStore["assets"]> {
  const { filter, cursor, limit } = query;
  const size = pageSize(limit);
  const after = cursor === null ? null : placeOf(cursor);
  let wanted = kysely
    .selectFrom("assets")
    .selectAll()
    .where("workspace_id", "=", filter.workspaceId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(size + 1);
  if (filter.platform !== undefined) wanted = wanted.where("platform", "=", filter.platform);
  if (filter.groupId !== undefined) wanted = wanted.where("group_id", "=", filter.groupId);
  if (filter.status !== undefined) wanted = wanted.where("status", "=", filter.status);
  if (after !== null) {
    wanted = wanted.where(isBehind(["created_at", "id"], after));
  }
  const rows = await wanted.execute();
  const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.created_at, id: last.id }));
  return { assets: page.map(assetOf), next };
}

async function leaseAssets(
  database: Database,
  { now, leaseMs, limit }: { readonly now: number; readonly leaseMs: number; readonly limit: number },
): ReturnType<AssetStore["dueAssets"]> {
  const rows = await relaxedWrite(database, (connection) =>
    updateDue(database, connection, "assets", { now, limit })
      .set({ due_at: now + leaseMs })
      .returningAll()
      .execute(),
  );
  return rows.map(assetOf);
}

async function nextDueAsset({ reading }: Database): Promise<number | null> {
  const row = await reading
    .selectFrom("assets")
    .select("due_at")
    .where("due_at", "is not", null)
    .orderBy("due_at")
    .limit(1)
    .executeTakeFirst();
  return row?.due_at ?? null;
}

/** A task's result that was copied into the blob store uses its bytes just as an asset does. */
async function usesOf({ kysely }: Database, hash: string, { id = "", groupId = "" }: BlobOwner = {}): Promise<number> {
  const uses = await kysely
    .selectFrom("assets")
    .select("id")
    .where("blob_hash", "=", hash)
    .where("id", "!=", id)
    .where("group_id", "!=", groupId)
    .unionAll(kysely.selectFrom("tasks").select("id").where("blob_hash", "=", hash).where("id", "!=", id))
    .execute();
  return uses.length;
}

function bindings({ kysely }: Database): Pick<AssetStore, "binding" | "bindings" | "bind"> {
  return {
    async binding(assetId, providerId) {
      const row = await kysely
        .selectFrom("asset_bindings")
        .selectAll()
        .where("asset_id", "=", assetId)
        .where("provider_id", "=", providerId)
        .executeTakeFirst();
      return row === undefined ? null : bindingOf(row);
    },
    async bindings(assetId) {
      const rows = await kysely
        .selectFrom("asset_bindings")
        .selectAll()
        .where("asset_id", "=", assetId)
        .orderBy("provider_id")
        .execute();
      return rows.map(bindingOf);
    },
    async bind(binding) {
      const row = bindingRow(binding);
      await kysely
        .insertInto("asset_bindings")
        .values(row)
        .onConflict((conflict) => conflict.columns(["asset_id", "provider_id"]).doUpdateSet(row))
        .execute();
    },
  };
}

type GroupStore = Pick<AssetStore, "createGroup" | "findGroup" | "groups" | "updateGroup" | "deleteGroup">;

function assetGroups({ kysely }: Database): GroupStore {
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
