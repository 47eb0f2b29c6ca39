import type { AuditRow } from "@sluice/contract/console";
import { type AuditAction, auditTargetOf } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { AuditFilter, Paged } from "#ports/index.ts";
import { contains } from "../database/conditions.ts";
import type { Row } from "../database/schema.ts";
import type { ReportContext } from "./report-context.ts";
import { slicedPage } from "./report-search.ts";

/** The audit log, newest first. */
export async function auditPage(
  { connection, deadline }: ReportContext,
  filter: AuditFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<AuditRow>> {
  const { workspaceId, search = "", action, from, to } = filter;
  const ordered = (after: number) => {
    const query = connection.selectFrom("audit_log").where("seq", "<", after).orderBy("seq", "desc");
    return workspaceId === null ? query : query.where("workspace_id", "=", workspaceId);
  };
  const { rows, next } = await slicedPage<number, Row<"audit_log">>(
    {
      placeBehind: async (after, entries) => {
        const end = await ordered(after)
          .select("seq")
          .limit(1)
          .offset(entries - 1)
          .executeTakeFirst();
        return end?.seq ?? null;
      },
      matching: (after, end, size) => {
        let query = ordered(after).selectAll().limit(size);
        if (end !== null) query = query.where("seq", ">=", end);
        if (action !== undefined) query = query.where("action", "=", action);
        if (from !== undefined) query = query.where("at", ">=", from);
        if (to !== undefined) query = query.where("at", "<", to);
        if (search === "") return query.execute();
        return query
          .where((eb) => eb.or([contains(eb.ref("object"), search), contains(eb.ref("actor"), search)]))
          .execute();
      },
      placeOf: (row) => row.seq,
    },
    cursor === null ? Number.MAX_SAFE_INTEGER : seqOf(cursor),
    limit,
    deadline,
  );
  const slugs = await slugsOf(connection, rows);
  return {
    data: rows.map((row) => auditRowOf(row, slugs)),
    next: next === null ? null : Buffer.from(`a.${next}`, "utf8").toString("base64url"),
  };
}

function seqOf(cursor: string): number {
  const [, seq] = /^a\.(\d{1,16})$/.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  if (seq !== undefined) return Number(seq);
  throw new Failure("invalid_request", "The cursor is not one this list gave out.", { param: "cursor" });
}

async function slugsOf(
  connection: ReportContext["connection"],
  rows: readonly Row<"audit_log">[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.flatMap((row) => row.workspace_id ?? []))];
  if (ids.length === 0) return new Map();
  const named = await connection.selectFrom("workspaces").select(["id", "slug"]).where("id", "in", ids).execute();
  return new Map(named.map(({ id, slug }) => [id, slug]));
}

function auditRowOf(row: Row<"audit_log">, slugs: ReadonlyMap<string, string>): AuditRow {
  const { workspace_id: id } = row;
  return {
    seq: row.seq,
    at: row.at,
    actor: row.actor,
    ip: row.ip,
    workspace: id === null ? null : { id, slug: slugs.get(id) ?? id },
    // Only the log's writers write it, and they write no other.
    action: row.action as AuditAction,
    object: row.object,
    target: auditTargetOf(row.object),
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
  };
}
