import type { LedgerIndexColumn } from "../database/schema.ts";
import { intentPlaces, type LedgerRecord, settlementPlaces } from "../journal/journal-record.ts";

type IndexValue = string | number | null;

interface IndexColumn {
  readonly column: LedgerIndexColumn;
  readonly type: "text" | "bigint" | "float8";
  readonly read: (record: LedgerRecord) => IndexValue;
}

/** The columns that `ledger_entries` holds beside the record: what entries are found and sorted by. */
export const indexColumns: readonly IndexColumn[] = [
  begun("at", "bigint", intentPlaces.at),
  begun("attempt_id", "text", intentPlaces.attemptId),
  settled("ended_at", "bigint", settlementPlaces.endedAt),
  begun("request_id", "text", intentPlaces.requestId),
  begun("workspace_id", "text", intentPlaces.workspaceId),
  begun("group_id", "text", intentPlaces.groupId),
  begun("key_id", "text", intentPlaces.keyId),
  begun("person_id", "text", intentPlaces.personId),
  begun("model", "text", intentPlaces.model),
  begun("provider", "text", intentPlaces.provider),
  settled("outcome", "text", settlementPlaces.outcome),
  settled("http_status", "bigint", settlementPlaces.httpStatus),
  settled("error_code", "text", settlementPlaces.errorCode),
  { column: "total_ms", type: "float8", read: (record) => totalMsOf(record) },
  settled("upstream_id", "text", settlementPlaces.upstreamId),
];

function begun(column: LedgerIndexColumn, type: IndexColumn["type"], place: number): IndexColumn {
  return { column, type, read: ({ intent }) => (intent[place] ?? null) as IndexValue };
}

function settled(column: LedgerIndexColumn, type: IndexColumn["type"], place: number): IndexColumn {
  return { column, type, read: ({ settlement }) => (settlement[place] ?? null) as IndexValue };
}

/** null where it is no number: the table takes no such row. */
export function totalMsOf({ settlement }: LedgerRecord): number | null {
  const micros = settlement[settlementPlaces.totalMs];
  return typeof micros === "number" ? micros / 1_000 : null;
}
