import { sql } from "kysely";
import { type Batch, type BatchRow, type BatchState, batchPieceRows, membersOf } from "#core/index.ts";
import {
  type Connection,
  cursorOf,
  cutPage,
  type Database,
  isAfter,
  type PagePosition,
  pageSize,
  parseCursor,
} from "#storage/tables.ts";
import { nextTurn } from "../turns.ts";

/** Listed explicitly: a later version may add columns. */
export const batchColumns = [
  ...(["id", "workspace_id", "group_id", "key_id", "person_id", "actor_id", "api", "endpoint", "model"] as const),
  ...(["state", "display_name", "metadata", "headers", "user_agent", "tags", "input_file_id", "input_hash"] as const),
  ...([
    "output_hash",
    "output_bytes",
    "output_file_id",
    "error_file_id",
    "output_life_ms",
    "errors",
    "holds",
    "budgets",
  ] as const),
  ...(["input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "progress_at"] as const),
  ...(["total", "succeeded", "errored", "canceled", "expired", "cost_nano_usd"] as const),
  ...(["created_at", "started_at", "finalizing_at", "ended_at", "cancel_at", "expires_at", "delete_at"] as const),
  ...(["provider", "deployment", "upstream_model", "price_version", "upload_id", "submitted_at"] as const),
  ...(["upstream_id", "vendor_hash", "vendor_bytes", "vendor_lines"] as const),
  "due_at",
  "hint_at",
] as const;

export const rowColumns = [
  ...(["batch_id", "position", "custom_id", "start", "bytes", "state", "owner", "http_status", "result"] as const),
] as const;

export const jsonMembers = ["metadata", "headers", "tags", "errors", "holds", "budgets"] as const;

export function batchFromRow(row: object): Batch {
  return membersOf(row, jsonMembers, ["personId", "actorId"]) as unknown as Batch;
}

export interface BatchFilter {
  /** null: every workspace. */
  readonly workspaceId: string | null;
  readonly api?: Batch["api"];
  readonly keyId?: string;
  readonly model?: string;
  readonly states?: readonly BatchState[];
  readonly personId?: string;
  /** Only batches of this person and batches without a person. */
  readonly visiblePerson?: string;
}

/** `next` is the cursor of the following page; null at the end. */
export interface BatchPage {
  readonly batches: readonly Batch[];
  readonly next: string | null;
}

/** Open rows of one piece of a batch. */
export interface OpenPiece {
  readonly piece: number;
  readonly rows: number;
}

/** Open rows are counted in one statement for this many pieces. */
const piecesCounted = 10;

/** The first row of a batch in this state, from a position on. SQLite uses a partial index only if its condition is in the statement. */
export async function firstIn(
  connection: Connection,
  batchId: string,
  state: "pending" | "running",
  from = 0,
): Promise<number | null> {
  const row = await connection
    .selectFrom("batch_rows")
    .select("position")
    .where("batch_id", "=", batchId)
    .where("position", ">=", from)
    .where("state", "=", sql.lit(state))
    .orderBy("position")
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? null;
}

/** Reads without a lease. */
export function batchReads({ kysely }: Database) {
  const selected = () => kysely.selectFrom("batches").select(batchColumns);
  return {
    async find(workspaceId: string, id: string): Promise<Batch | null> {
      const row = await selected()
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .where("state", "!=", "validating")
        .executeTakeFirst();
      return row === undefined ? null : batchFromRow(row);
    },
    async findById(id: string): Promise<Batch | null> {
      const row = await selected().where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : batchFromRow(row);
    },
    /** A page of batches, newest first; with `before`, the page that ends right before that batch. */
    async page(
      { workspaceId, api, keyId, model, states, personId, visiblePerson }: BatchFilter,
      {
        after = null,
        before = null,
      }: { readonly after?: PagePosition | string | null; readonly before?: PagePosition | null },
      limit: number,
    ): Promise<BatchPage> {
      const size = pageSize(limit);
      const order = before === null ? ("desc" as const) : ("asc" as const);
      let query = selected()
        .where("state", "!=", "validating")
        .orderBy("created_at", order)
        .orderBy("id", order)
        .limit(size + 1);
      if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
      if (api !== undefined) query = query.where("api", "=", api);
      if (keyId !== undefined) query = query.where("key_id", "=", keyId);
      if (model !== undefined) query = query.where("model", "=", model);
      if (states !== undefined) query = query.where("state", "in", states);
      if (personId !== undefined) query = query.where("person_id", "=", personId);
      if (visiblePerson !== undefined) {
        query = query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
      }
      const place = typeof after === "string" ? parseCursor(after) : after;
      if (before !== null) query = query.where(isAfter(["created_at", "id"], before, "oldest first"));
      else if (place !== null) query = query.where(isAfter(["created_at", "id"], place));
      const rows = await query.execute();
      const { page, next } = cutPage(rows, size, (last) => cursorOf({ at: last.created_at, id: last.id }));
      const batches = page.map(batchFromRow);
      return { batches: before === null ? batches : batches.toReversed(), next };
    },
    /** Rows in order, for the result. */
    async rows(batchId: string, after: number, limit: number): Promise<readonly BatchRow[]> {
      const rows = await kysely
        .selectFrom("batch_rows")
        .select(rowColumns)
        .where("batch_id", "=", batchId)
        .where("position", ">", after)
        .orderBy("position")
        .limit(limit)
        .execute();
      return rows.map((row) => membersOf(row) as BatchRow);
    },
    /** The first errored rows of a batch that has not ended. */
    async erroredRows(batchId: string, limit: number): Promise<readonly BatchRow[]> {
      const rows = await kysely
        .selectFrom("batch_rows")
        .select(rowColumns)
        .where("batch_id", "=", batchId)
        .where("state", "=", sql.lit("errored"))
        .orderBy("position")
        .limit(limit)
        .execute();
      return rows.map((row) => membersOf(row) as BatchRow);
    },
    /** How many rows of each piece have not ended. Pieces without such rows are left out. */
    async openPieces(batchId: string): Promise<readonly OpenPiece[]> {
      const open = new Map<number, number>();
      const piece = sql<number>`position / ${sql.lit(batchPieceRows)}`;
      for (const state of ["pending", "running"] as const) {
        // In parts: SQLite counts on the thread of the event loop.
        for (let from = await firstIn(kysely, batchId, state); from !== null; ) {
          const until = (Math.floor(from / batchPieceRows) + piecesCounted) * batchPieceRows;
          const rows = await kysely
            .selectFrom("batch_rows")
            .select(({ fn }) => [piece.as("piece"), fn.countAll<number>().as("rows")])
            .where("batch_id", "=", batchId)
            .where("position", ">=", from)
            .where("position", "<", until)
            .where("state", "=", sql.lit(state))
            .groupBy(piece)
            .execute();
          for (const row of rows) open.set(Number(row.piece), (open.get(Number(row.piece)) ?? 0) + Number(row.rows));
          from = await firstIn(kysely, batchId, state, until);
          await nextTurn();
        }
      }
      return [...open].map(([piece, rows]) => ({ piece, rows }));
    },
    /** Batches that have not ended, to hold their money again after a restart. */
    async *open(): AsyncGenerator<Batch, void, undefined> {
      for (let after = ""; ; ) {
        const rows = await selected()
          .where("due_at", "is not", null)
          .where("state", "!=", "validating")
          .where("id", ">", after)
          .orderBy("id")
          .limit(100)
          .execute();
        for (const row of rows) yield batchFromRow(row);
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.id;
      }
    },
    /** Batches of a workspace that have not ended. */
    async openCount(workspaceId: string): Promise<number> {
      const row = await kysely
        .selectFrom("batches")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("workspace_id", "=", workspaceId)
        .where("due_at", "is not", null)
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },
    /** Open batches and their rows by state, for metrics. */
    async openSums(): Promise<{
      readonly batches: number;
      readonly rows: number;
      readonly ended: number;
      readonly oldestAt: number | null;
      readonly progressAt: number | null;
    }> {
      const row = await kysely
        .selectFrom("batches")
        .select(({ fn }) => [
          fn.countAll<number>().as("batches"),
          fn.sum<number | null>("total").as("rows"),
          sql<number | null>`sum(succeeded + errored + canceled + expired)`.as("ended"),
          fn.min<number | null>("created_at").as("oldest"),
          fn.min<number | null>("progress_at").as("progress"),
        ])
        .where("due_at", "is not", null)
        .executeTakeFirstOrThrow();
      const { batches, rows, ended, oldest, progress } = row;
      return {
        batches: Number(batches),
        rows: Number(rows ?? 0),
        ended: Number(ended ?? 0),
        oldestAt: oldest === null ? null : Number(oldest),
        progressAt: progress === null ? null : Number(progress),
      };
    },
  };
}
