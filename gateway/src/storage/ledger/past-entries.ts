import { noUsage, type Outcome, tokensOf, usageClasses } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";
import { intentPlaces, readLedgerRecord, settlementPlaces } from "../journal/journal-record.ts";

/** The facts of an entry that decide what limits, grants, prices and routes would have done. Times are Unix milliseconds. */
export interface PastEntry {
  readonly attemptId: string;
  readonly requestId: string;
  readonly at: number;
  readonly endedAt: number;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId: string | null;
  readonly model: string;
  readonly requestedModel: string;
  readonly provider: string;
  readonly deployment: string;
  readonly upstreamModel: string;
  readonly endpoint: string;
  readonly isStream: boolean;
  readonly retryIndex: number;
  readonly inputEstimate: number;
  readonly reservedNanoUsd: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly outcome: Outcome;
  readonly errorCode: string | null;
  /** Counts as in the record: `usageOf` reads them. */
  readonly usage: readonly number[];
  readonly tokens: number;
  readonly costNanoUsd: number;
  readonly priceVersion: string | null;
  readonly isVendorCost: boolean;
  readonly served: string | null;
  readonly servedModel: string | null;
  /** Number of refused calls that the entry covers; 0: the entry is not a call, such as an adjustment. */
  readonly calls: number;
}

export interface PastEntriesQuery {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
  /** null: all workspaces. */
  readonly workspaceIds: readonly string[] | null;
  /** The last entry of the page before; null: the first page. */
  readonly after: PagePosition | null;
  readonly limit: number;
}

/** A page of entries, oldest first. Reads records only, and finds their members by place. */
export async function pastEntries(connection: Connection, query: PastEntriesQuery): Promise<readonly PastEntry[]> {
  const { from, to, workspaceIds, after, limit } = query;
  let rows = connection
    .selectFrom("ledger_entries")
    .select("record")
    .where("at", "<", to)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(limit);
  // One lower bound only: SQLite would begin each page at the other one.
  rows = rows.where(isAfter(["at", "attempt_id"], after ?? { at: from, id: "" }, "oldest first"));
  if (workspaceIds !== null) rows = rows.where("workspace_id", "in", [...workspaceIds]);
  return (await rows.execute()).map(({ record }) => pastEntry(record));
}

/** Endpoints by request. Requests that share the entry of another one are left out. */
export async function pastEndpoints(
  connection: Connection,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (requestIds.length === 0) return new Map();
  const rows = await connection
    .selectFrom("ledger_entries")
    .select("record")
    .where("request_id", "in", [...requestIds])
    .execute();
  const entries = rows.map(({ record }) => pastEntry(record));
  return new Map(entries.map(({ requestId, endpoint }) => [requestId, endpoint]));
}

function pastEntry(record: string): PastEntry {
  const { intent, settlement, calls } = readLedgerRecord(record);
  const usage = settlement[settlementPlaces.usage] as readonly number[];
  return {
    attemptId: intent[intentPlaces.attemptId] as string,
    requestId: intent[intentPlaces.requestId] as string,
    at: intent[intentPlaces.at] as number,
    endedAt: settlement[settlementPlaces.endedAt] as number,
    workspaceId: intent[intentPlaces.workspaceId] as string,
    groupId: intent[intentPlaces.groupId] as string,
    keyId: intent[intentPlaces.keyId] as string,
    personId: (intent[intentPlaces.personId] ?? null) as string | null,
    model: intent[intentPlaces.model] as string,
    requestedModel: intent[intentPlaces.requestedModel] as string,
    provider: intent[intentPlaces.provider] as string,
    deployment: intent[intentPlaces.deployment] as string,
    upstreamModel: intent[intentPlaces.upstreamModel] as string,
    endpoint: intent[intentPlaces.endpoint] as string,
    isStream: intent[intentPlaces.stream] as boolean,
    retryIndex: intent[intentPlaces.retryIndex] as number,
    inputEstimate: intent[intentPlaces.inputEstimate] as number,
    reservedNanoUsd: intent[intentPlaces.reservedNanoUsd] as number,
    tags: intent[intentPlaces.tags] as PastEntry["tags"],
    outcome: settlement[settlementPlaces.outcome] as Outcome,
    errorCode: settlement[settlementPlaces.errorCode] as string | null,
    usage,
    tokens: tokensIn(usage),
    costNanoUsd: settlement[settlementPlaces.costNanoUsd] as number,
    priceVersion: (settlement[settlementPlaces.priceVersion] ?? null) as string | null,
    isVendorCost: settlement[settlementPlaces.costSource] === "vendor",
    served: (settlement[settlementPlaces.served] ?? null) as string | null,
    servedModel: (settlement[settlementPlaces.servedModel] ?? null) as string | null,
    calls,
  };
}

/** 1 for classes that count as tokens, in the order of a record. */
const tokenFactors = usageClasses.map((name) => tokensOf({ ...noUsage, [name]: 1 }));

function tokensIn(usage: readonly number[]): number {
  let tokens = 0;
  for (let index = 0; index < usage.length; index++) tokens += (usage[index] ?? 0) * (tokenFactors[index] ?? 0);
  return tokens;
}
