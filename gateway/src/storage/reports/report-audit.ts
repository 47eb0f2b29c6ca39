import type { AuditRow } from "@sluice/contract/console";
import { type AuditAction, auditTargetOf } from "@sluice/contract/words";
import type { AuditFilter, Paged } from "#ports/index.ts";
import { contains } from "../database/conditions.ts";
import { cursorOfText, parseCursorText } from "../database/pages.ts";
import type { Row } from "../database/schema.ts";
import type { ReportContext } from "./report-context.ts";
import { namesIn } from "./report-names.ts";
import { slicedPage } from "./report-search.ts";

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
      positionAfter: async (after, entries) => {
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
    cursor === null ? Number.MAX_SAFE_INTEGER : Number(parseCursorText(cursor, /^a\.(\d{1,16})$/)[0]),
    limit,
    deadline,
  );
  const slugs = await namesIn(
    connection,
    "workspaces",
    rows.flatMap((row) => row.workspace_id ?? []),
  );
  return {
    data: rows.map((row) => auditRowOf(row, slugs)),
    next: next === null ? null : cursorOfText(`a.${next}`),
  };
}

function auditRowOf(row: Row<"audit_log">, slugs: ReadonlyMap<string, string>): AuditRow {
  const { workspace_id: id } = row;
  return {
    seq: row.seq,
    at: row.at,
    actor: row.actor,
    ip: row.ip,
    workspace: id === null ? null : { id, slug: slugs.get(id) ?? id },
    // Only valid actions are written.
    action: row.action as AuditAction,
    object: row.object,
    target: auditTargetOf(row.object),
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
  };
}
