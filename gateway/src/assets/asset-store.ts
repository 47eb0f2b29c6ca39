import type { SelectQueryBuilder } from "kysely";
import {
  type Asset,
  type AssetBinding,
  type AssetGroup,
  type AssetStatus,
  columnsOf,
  Failure,
  membersOf,
  type PlatformId,
} from "#core/index.ts";
import {
  cursorOf,
  cutPage,
  type Database,
  deleteRows,
  heldRows,
  isAfter,
  isLeasedUntil,
  pageSize,
  parseCursor,
  putRow,
  type Row,
  relaxedWrite,
  type Tables,
  updateDue,
} from "#storage/tables.ts";

export interface AssetFilter {
  readonly workspaceId: string;
  readonly platform?: PlatformId;
  readonly groupId?: string;
  readonly status?: AssetStatus;
}

/** Owners of bytes: an asset or a task by id, or all assets of a group. */
export interface BlobOwner {
  readonly id?: string;
  readonly groupId?: string;
}

/** Listed explicitly: a later version may add columns. */
const groupColumns = [
  "id",
  "workspace_id",
  "platform",
  "name",
  "description",
  "project_name",
  "provider_id",
  "upstream_id",
  "created_at",
  "updated_at",
] as const;
const assetColumns = [
  "id",
  "workspace_id",
  "group_id",
  "platform",
  "name",
  "type",
  "source_url",
  "status",
  "error",
  "provider_id",
  "upstream_id",
  "blob_hash",
  "size_bytes",
  "content_type",
  "created_at",
  "updated_at",
  "due_at",
] as const;
const bindingColumns = ["asset_id", "provider_id", "upstream_group_id", "upstream_id", "status", "updated_at"] as const;

type AssetRow = Pick<Row<"assets">, (typeof assetColumns)[number]>;

export type AssetStore = ReturnType<typeof createAssetStore>;

/** Any number of stores, in any process, may use the same database. */
export function createAssetStore({ database }: { readonly database: Database }) {
  const { kysely } = database;
  const deleteRow = async (table: "assets" | "asset_groups", workspaceId: string, id: string): Promise<boolean> =>
    (await deleteRows(kysely, table, { id, workspace_id: workspaceId })) > 0;
  return {
    async createGroup(group: AssetGroup): Promise<void> {
      await kysely.insertInto("asset_groups").values(columnsOf(group)).execute();
    },
    async findGroup(workspaceId: string, id: string): Promise<AssetGroup | null> {
      const row = await kysely
        .selectFrom("asset_groups")
        .select(groupColumns)
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      return row === undefined ? null : membersOf(row);
    },
    /** Newest first. */
    async groups(
      { workspaceId, platform }: { readonly workspaceId: string; readonly platform?: PlatformId },
      cursor: string | null,
      limit: number,
    ): Promise<{ readonly groups: readonly AssetGroup[]; readonly next: string | null }> {
      let query = kysely.selectFrom("asset_groups").select(groupColumns).where("workspace_id", "=", workspaceId);
      if (platform !== undefined) query = query.where("platform", "=", platform);
      const { page, next } = await pageOf(query, cursor, limit);
      return { groups: page.map((row) => membersOf(row)), next };
    },
    async anyGroup(): Promise<boolean> {
      return (await kysely.selectFrom("asset_groups").select("id").limit(1).executeTakeFirst()) !== undefined;
    },
    /** Its assets and bindings are deleted by the same statement (cascade). */
    deleteGroup: (workspaceId: string, id: string) => deleteRow("asset_groups", workspaceId, id),
    async createAsset(asset: Asset): Promise<void> {
      await kysely.transaction().execute(async (transaction) => {
        // It may have been deleted in the meantime.
        const query = transaction
          .selectFrom("asset_groups")
          .select("id")
          .where("id", "=", asset.groupId)
          .where("workspace_id", "=", asset.workspaceId);
        const group = await heldRows(database, query).executeTakeFirst();
        if (group === undefined) throw new Failure("asset_group_not_found", `No asset group ${asset.groupId}.`);
        await transaction
          .insertInto("assets")
          .values(columnsOf(asset, ["error"]))
          .execute();
      });
    },
    async findAsset(workspaceId: string, id: string): Promise<Asset | null> {
      const row = await kysely
        .selectFrom("assets")
        .select(assetColumns)
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst();
      return row === undefined ? null : assetOf(row);
    },
    /** Newest first. */
    async assets(
      { workspaceId, platform, groupId, status }: AssetFilter,
      cursor: string | null,
      limit: number,
    ): Promise<{ readonly assets: readonly Asset[]; readonly next: string | null }> {
      let query = kysely.selectFrom("assets").select(assetColumns).where("workspace_id", "=", workspaceId);
      if (platform !== undefined) query = query.where("platform", "=", platform);
      if (groupId !== undefined) query = query.where("group_id", "=", groupId);
      if (status !== undefined) query = query.where("status", "=", status);
      const { page, next } = await pageOf(query, cursor, limit);
      return { assets: page.map(assetOf), next };
    },
    /** Writes only if the asset still has the values in `still`. False: it changed or was deleted. */
    async updateAsset(
      id: string,
      change: Partial<Omit<Asset, "id" | "workspaceId" | "groupId" | "platform" | "createdAt">>,
      still: Partial<Pick<Asset, "dueAt" | "status">> = {},
    ): Promise<boolean> {
      const columns = columnsOf(change, ["error"]);
      if (Object.keys(columns).length === 0) return true;
      let update = kysely.updateTable("assets").set(columns).where("id", "=", id);
      if (still.dueAt !== undefined) update = update.where(isLeasedUntil(still.dueAt));
      if (still.status !== undefined) update = update.where("status", "=", still.status);
      const { numUpdatedRows } = await update.executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    deleteAsset: (workspaceId: string, id: string) => deleteRow("assets", workspaceId, id),
    /** Leases due assets. `dueAt` becomes the end of the lease; pass it in `still` to later writes. */
    async dueAssets(now: number, leaseMs: number, limit: number): Promise<readonly Asset[]> {
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "assets", { now, limit })
          .set({ due_at: now + leaseMs })
          .returning(assetColumns)
          .execute(),
      );
      return rows.map(assetOf);
    },
    /** When the first asset is due; null: none. */
    async nextDueAsset(): Promise<number | null> {
      const row = await database.reading
        .selectFrom("assets")
        .select("due_at")
        .where("due_at", "is not", null)
        .orderBy("due_at")
        .limit(1)
        .executeTakeFirst();
      return row?.due_at ?? null;
    },
    /** How many assets and copied task results, in any workspace, use these bytes, without those of the owner. */
    async blobUses(hash: string, { id = "", groupId = "" }: BlobOwner = {}): Promise<number> {
      const uses = await kysely
        .selectFrom("assets")
        .select("id")
        .where("blob_hash", "=", hash)
        .where("id", "!=", id)
        .where("group_id", "!=", groupId)
        .unionAll(kysely.selectFrom("tasks").select("id").where("blob_hash", "=", hash).where("id", "!=", id))
        .execute();
      return uses.length;
    },
    async binding(assetId: string, providerId: string): Promise<AssetBinding | null> {
      const row = await kysely
        .selectFrom("asset_bindings")
        .select(bindingColumns)
        .where("asset_id", "=", assetId)
        .where("provider_id", "=", providerId)
        .executeTakeFirst();
      return row === undefined ? null : membersOf(row);
    },
    async bindings(assetId: string): Promise<readonly AssetBinding[]> {
      const rows = await kysely
        .selectFrom("asset_bindings")
        .select(bindingColumns)
        .where("asset_id", "=", assetId)
        .orderBy("provider_id")
        .execute();
      return rows.map((row) => membersOf(row));
    },
    async bind(binding: AssetBinding): Promise<void> {
      const { asset_id, provider_id, ...columns } = columnsOf(binding);
      await putRow(kysely, "asset_bindings", { asset_id, provider_id }, columns);
    },
  };
}

/** A page, newest first. Both tables have the columns for it. */
async function pageOf<Found extends Pick<Row<"assets">, "id" | "created_at">>(
  query: SelectQueryBuilder<Tables, "assets" | "asset_groups", Found>,
  cursor: string | null,
  limit: number,
) {
  const size = pageSize(limit);
  let page = query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(size + 1);
  if (cursor !== null) page = page.where(isAfter(["created_at", "id"], parseCursor(cursor)));
  return cutPage(await page.execute(), size, (last) => cursorOf({ at: last.created_at, id: last.id }));
}

const assetOf = (row: AssetRow): Asset => membersOf(row, ["error"]);
