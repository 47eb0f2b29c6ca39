import { sql } from "kysely";
import type { Database } from "#storage/tables.ts";
import { decided, type Finding, type Findings, findingsMax, type Watched } from "./finding.ts";

export interface BatchSources {
  readonly database: Database;
  readonly slugOf: (workspaceId: string) => string;
}

const hourMs = 3_600_000;
/** A batch ends within a day. */
const createdWithinMs = 26 * hourMs;

/** Batches with a large share of failed rows, until an hour after their end. */
export async function batchRowFindings(
  { workspaceId, condition }: Watched<"batch_rows_failed">,
  { database, slugOf }: BatchSources,
  now: number,
): Promise<Findings> {
  let query = database.reading
    .selectFrom("batches")
    .select(["id", "workspace_id", "person_id", "display_name", "succeeded", "errored"])
    .where("created_at", ">", now - createdWithinMs)
    .where("errored", ">", 0)
    .where((eb) => eb.or([eb("ended_at", "is", null), eb("ended_at", ">", now - hourMs)]))
    .where((eb) => eb(eb("errored", "+", eb.ref("succeeded")), ">=", condition.min_rows))
    .orderBy("errored", "desc")
    .limit(findingsMax * 2);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  const found = (await query.execute()).flatMap((row): Finding[] => {
    const failed = Number(row.errored);
    const rows = failed + Number(row.succeeded);
    const percent = (100 * failed) / rows;
    if (percent < condition.percent) return [];
    const facts = {
      ...{ workspace: slugOf(row.workspace_id), batch: row.id, name: row.display_name },
      ...{ failed, rows, percent },
    };
    return [
      {
        ...{ kind: "batch_rows_failed", subject: `batch ${row.id}`, level: 1, severity: "warning", facts },
        ...{ workspaceId: row.workspace_id, personId: row.person_id },
      },
    ];
  });
  return decided(found);
}

/** Open batches in which no row has ended for some hours. */
export async function stuckBatchFindings(
  { workspaceId, condition }: Watched<"batch_stuck">,
  { database, slugOf }: BatchSources,
  now: number,
): Promise<Findings> {
  let query = database.reading
    .selectFrom("batches")
    .select(["id", "workspace_id", "person_id", "display_name", "total", "progress_at"])
    .select(sql<number>`total - succeeded - errored - canceled - expired`.as("open"))
    .where("due_at", "is not", null)
    .where("progress_at", "<=", now - condition.hours * hourMs)
    .orderBy("progress_at")
    .limit(findingsMax * 2);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  const found = (await query.execute()).map((row): Finding => {
    const facts = {
      ...{ workspace: slugOf(row.workspace_id), batch: row.id, name: row.display_name },
      ...{
        hours: Math.floor((now - Number(row.progress_at)) / hourMs),
        open: Number(row.open),
        rows: Number(row.total),
      },
    };
    return {
      ...{ kind: "batch_stuck", subject: `batch ${row.id}`, level: 1, severity: "warning", facts },
      ...{ workspaceId: row.workspace_id, personId: row.person_id },
    };
  });
  return decided(found);
}
