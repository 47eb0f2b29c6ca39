import { sql } from "kysely";
import {
  columnsOf,
  type FileCopy,
  type FileUpload,
  membersOf,
  type StoredFile,
  type StoredFileStatus,
} from "#core/index.ts";
import { type Database, deleteRows, isLeasedUntil, pageSize, relaxedWrite, updateDue } from "#storage/tables.ts";

export interface FileFilter {
  readonly workspaceId?: string;
  readonly keyId?: string;
  readonly purpose?: string;
  /** Only files of this person and of shared keys. */
  readonly visiblePerson?: string;
}

/** A file and an upload that are not counted. */
export interface UsedExcept {
  readonly id?: string;
  readonly upload?: string | undefined;
}

/** A page of a list that is sorted by id. */
export interface FilePage {
  /** The id of the last file before the page; null: from the beginning. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: "newest first" | "oldest first";
}

/** Listed explicitly: a later version may add columns. */
const fileColumns = [
  "id",
  "workspace_id",
  "key_id",
  "person_id",
  "purpose",
  "filename",
  "media_type",
  "size_bytes",
  "sha256",
  "status",
  "upload_id",
  "created_at",
  "expires_at",
  "due_at",
  "tries",
] as const;
const uploadColumns = [
  "id",
  "workspace_id",
  "key_id",
  "person_id",
  "purpose",
  "filename",
  "media_type",
  "size_bytes",
  "status",
  "file_life_ms",
  "file_id",
  "created_at",
  "expires_at",
] as const;
const copyColumns = ["file_id", "provider", "upstream_id", "uri", "created_at", "expires_at"] as const;

/** States in which a file needs its bytes. */
const using = ["arriving", "part", "ready"] as const satisfies readonly StoredFileStatus[];
/** States that callers see. */
const shown = ["ready", "expiring", "expired"] as const satisfies readonly StoredFileStatus[];

export type FileStore = ReturnType<typeof createFileStore>;

/** Any number of stores, in any process, may use the same database. */
export function createFileStore({ database }: { readonly database: Database }) {
  const { kysely } = database;
  return {
    async create(file: StoredFile): Promise<void> {
      await kysely.insertInto("files").values(columnsOf(file)).execute();
    },
    /** Writes only if the file still has one of these states, and this due time if one is given. False: it has not. */
    async update(
      id: string,
      change: Partial<Omit<StoredFile, "id" | "workspaceId" | "createdAt">>,
      { status, dueAt }: { readonly status: readonly StoredFileStatus[]; readonly dueAt?: number | null },
    ): Promise<boolean> {
      let update = kysely
        .updateTable("files")
        .set(columnsOf(change))
        .where("id", "=", id)
        .where("status", "in", status);
      if (dueAt !== undefined) update = update.where(isLeasedUntil(dueAt));
      return (await update.executeTakeFirst()).numUpdatedRows > 0n;
    },
    /** Also an expired file, but not its parts or what is being deleted. */
    async find(workspaceId: string, ids: readonly string[]): Promise<readonly StoredFile[]> {
      if (ids.length === 0) return [];
      const rows = await kysely
        .selectFrom("files")
        .select(fileColumns)
        .where("id", "in", ids)
        .where("workspace_id", "=", workspaceId)
        .where("status", "in", shown)
        .execute();
      return rows.map((row) => membersOf(row));
    },
    /** Usable files, sorted by id. `next`: there are more. */
    async page(filter: FileFilter, { after, limit, order }: FilePage) {
      const size = pageSize(limit);
      const isNewestFirst = order === "newest first";
      let query = filtered(filter)
        .select(fileColumns)
        .orderBy("id", isNewestFirst ? "desc" : "asc")
        .limit(size + 1);
      if (after !== null) query = query.where("id", isNewestFirst ? "<" : ">", after);
      const rows = await query.execute();
      return { files: rows.slice(0, size).map((row): StoredFile => membersOf(row)), more: rows.length > size };
    },
    /** Number and bytes of usable files. */
    async totals(filter: FileFilter): Promise<{ readonly files: number; readonly bytes: number }> {
      const sums = await filtered(filter)
        .select([sql<number>`count(*)`.as("files"), sql<number | null>`sum(size_bytes)`.as("bytes")])
        .executeTakeFirst();
      return { files: Number(sums?.files ?? 0), bytes: Number(sums?.bytes ?? 0) };
    },
    /** Bytes that a workspace's files and unfinished uploads use. */
    async usedBytes(workspaceId: string, { id = "", upload = "" }: UsedExcept = {}): Promise<number> {
      const sum = await kysely
        .selectFrom("files")
        .select(sql<number | null>`sum(size_bytes)`.as("bytes"))
        .where("workspace_id", "=", workspaceId)
        .where("status", "in", using)
        .where("id", "!=", id)
        .where((where) => where.or([where("upload_id", "is", null), where("upload_id", "!=", upload)]))
        .executeTakeFirst();
      return Number(sum?.bytes ?? 0);
    },
    /** Whether a file, in any workspace, needs these bytes. */
    async needs(sha256: string): Promise<boolean> {
      const query = kysely.selectFrom("files").select("id").where("sha256", "=", sha256).where("status", "in", using);
      return (await query.limit(1).executeTakeFirst()) !== undefined;
    },
    /** Whether these bytes are being removed now. */
    async removes(sha256: string): Promise<boolean> {
      const query = kysely.selectFrom("files").select("id").where("sha256", "=", sha256);
      const found = await query.where("status", "in", ["removing", "expiring"]).limit(1).executeTakeFirst();
      return found !== undefined;
    },
    async remove(id: string, status: StoredFileStatus): Promise<void> {
      await deleteRows(kysely, "files", { id, status });
    },
    /** Leases due files. `dueAt` becomes the end of the lease. */
    async leaseDue(now: number, leaseMs: number, limit: number): Promise<readonly StoredFile[]> {
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "files", { now, limit })
          .set({ due_at: now + leaseMs })
          .returning(fileColumns)
          .execute(),
      );
      return rows.map((row) => membersOf(row));
    },
    /** When the first file is due; null: none. */
    async nextDue(): Promise<number | null> {
      const query = database.reading.selectFrom("files").select("due_at").where("due_at", "is not", null);
      return (await query.orderBy("due_at").limit(1).executeTakeFirst())?.due_at ?? null;
    },

    async createUpload(upload: FileUpload): Promise<void> {
      await kysely.insertInto("file_uploads").values(columnsOf(upload)).execute();
    },
    async findUpload(workspaceId: string, id: string): Promise<FileUpload | null> {
      const query = kysely.selectFrom("file_uploads").select(uploadColumns).where("id", "=", id);
      const row = await query.where("workspace_id", "=", workspaceId).executeTakeFirst();
      return row === undefined ? null : membersOf(row);
    },
    /** False: it is not pending any more. */
    async endUpload(id: string, change: Pick<FileUpload, "status" | "fileId">): Promise<boolean> {
      const update = kysely.updateTable("file_uploads").set(columnsOf(change)).where("id", "=", id);
      return (await update.where("status", "=", "pending").executeTakeFirst()).numUpdatedRows > 0n;
    },
    async pendingUploads(workspaceId: string, now: number): Promise<number> {
      const row = await kysely
        .selectFrom("file_uploads")
        .select(sql<number>`count(*)`.as("count"))
        .where("workspace_id", "=", workspaceId)
        .where("status", "=", "pending")
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },
    /** Removes the rows of uploads that ended before. */
    async removeUploads(before: number): Promise<void> {
      await kysely.deleteFrom("file_uploads").where("expires_at", "<", before).execute();
    },
    /** In the order in which they were created. */
    async parts(uploadId: string): Promise<readonly StoredFile[]> {
      const query = kysely.selectFrom("files").select(fileColumns).where("upload_id", "=", uploadId);
      const rows = await query.where("status", "=", "part").orderBy("id").execute();
      return rows.map((row) => membersOf(row));
    },
    /** The parts of an upload are not needed any more. */
    async dropParts(uploadId: string, now: number): Promise<void> {
      const update = kysely.updateTable("files").set({ status: "removing", due_at: now });
      await update.where("upload_id", "=", uploadId).where("status", "in", ["part", "arriving"]).execute();
    },

    async copies(fileId: string): Promise<readonly FileCopy[]> {
      const query = kysely.selectFrom("file_copies").select(copyColumns).where("file_id", "=", fileId);
      return (await query.orderBy("provider").execute()).map((row) => membersOf(row));
    },
    async copy(fileId: string, provider: string): Promise<FileCopy | null> {
      const query = kysely.selectFrom("file_copies").select(copyColumns).where("file_id", "=", fileId);
      const row = await query.where("provider", "=", provider).executeTakeFirst();
      return row === undefined ? null : membersOf(row);
    },
    /** Replaces a copy that has expired. False: the file was deleted, or another process has put one. */
    async putCopy(copy: FileCopy): Promise<boolean> {
      return kysely.transaction().execute(async (transaction) => {
        const { file_id, provider, ...columns } = columnsOf(copy);
        const isReady = await transaction
          .updateTable("files")
          .set({ tries: 0 })
          .where("id", "=", file_id)
          .where("status", "=", "ready")
          .executeTakeFirst();
        if (isReady.numUpdatedRows === 0n) return false;
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto("file_copies")
          .values({ file_id, provider, ...columns })
          .onConflict((conflict) =>
            conflict
              .columns(["file_id", "provider"])
              .doUpdateSet(columns)
              .where("file_copies.expires_at", "<=", copy.createdAt),
          )
          .executeTakeFirst();
        return (numInsertedOrUpdatedRows ?? 0n) > 0n;
      });
    },
    async removeCopy({ fileId, provider, upstreamId }: FileCopy): Promise<void> {
      await deleteRows(kysely, "file_copies", { file_id: fileId, provider, upstream_id: upstreamId });
    },
  };

  function filtered({ workspaceId, keyId, purpose, visiblePerson }: FileFilter) {
    let query = kysely.selectFrom("files").where("status", "=", "ready");
    if (workspaceId !== undefined) query = query.where("workspace_id", "=", workspaceId);
    if (keyId !== undefined) query = query.where("key_id", "=", keyId);
    if (purpose !== undefined) query = query.where("purpose", "=", purpose);
    if (visiblePerson !== undefined) {
      query = query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
    }
    return query;
  }
}
