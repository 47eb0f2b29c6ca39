import { nanoToUsd, sessionTag } from "#core/index.ts";
import type { SessionFilter, SessionReport, SessionUsage } from "#ports/index.ts";
import { inputColumns, outputColumns } from "../ledger/ledger-columns.ts";
import type { ReportContext } from "./report-context.ts";

/** Entries that are read, and sessions that are shown. */
const sessionEntriesMax = 50_000;
const sessionsMax = 100;

/** Latest first. Entries beyond the bound, the oldest, are left out and reported as `truncated`. */
export async function sessionUsage(
  { connection, deadline }: ReportContext,
  { workspaceId, keyId, from, to }: SessionFilter,
): Promise<SessionReport> {
  let query = connection
    .selectFrom("ledger")
    .select(["tags", "at", "calls", "retry_index", "cost_nano_usd", "cache_read", "cache_read_audio"])
    .select([...inputColumns, ...outputColumns])
    .where("at", ">=", from)
    .where("at", "<", to)
    .where("outcome", "!=", "rejected");
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (keyId !== undefined) query = query.where("key_id", "=", keyId);
  const rows = await query
    .orderBy("at", "desc")
    .limit(sessionEntriesMax + 1)
    .execute();
  deadline.check();
  const sessions = new Map<string, { -readonly [Member in keyof SessionUsage]: SessionUsage[Member] }>();
  for (const row of rows.slice(0, sessionEntriesMax)) {
    const session = (JSON.parse(row.tags) as Record<string, string>)[sessionTag];
    if (session === undefined) continue;
    let sum = sessions.get(session);
    if (sum === undefined) {
      sum = { session, lastAt: row.at, requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 };
      sessions.set(session, sum);
    }
    if (row.retry_index === 0) sum.requests += row.calls;
    for (const column of inputColumns) sum.inputTokens += row[column];
    for (const column of outputColumns) sum.outputTokens += row[column];
    sum.cachedTokens += row.cache_read + row.cache_read_audio;
    sum.costUsd += row.cost_nano_usd;
  }
  const data = [...sessions.values()].slice(0, sessionsMax);
  return {
    data: data.map((sum) => ({ ...sum, costUsd: nanoToUsd(sum.costUsd) })),
    truncated: rows.length > sessionEntriesMax || sessions.size > sessionsMax,
  };
}
