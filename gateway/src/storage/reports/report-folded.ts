import { type LedgerEntry, nanoToUsd } from "#core/index.ts";
import type { RequestFilter } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import type { PagePosition } from "../database/pages.ts";
import { storedEntry } from "../ledger/ledger-columns.ts";
import { checkConditions } from "./report-request-checks.ts";
import { end } from "./report-search.ts";

/** A refused request that shares the ledger entry of `countedIn`. */
export interface FoldedEntry {
  readonly entry: LedgerEntry;
  readonly countedIn: string;
}

export async function foldedRequest(
  connection: Connection,
  workspaceId: string | null,
  requestId: string,
): Promise<FoldedEntry | null> {
  let query = connection
    .selectFrom("folded_requests")
    .select(["record", "counted_in"])
    .where("request_id", "=", requestId);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : { entry: storedEntry(row), countedIn: row.counted_in };
}

/** With more matches, the id is too short to mean one request. */
const foldedFoundMax = 200;

/** Matches of a search by the beginning of a request id after `after`, newest first. Never more than `foldedFoundMax`. */
export async function foldedMatches(
  connection: Connection,
  filter: RequestFilter,
  after: PagePosition,
): Promise<readonly LedgerEntry[]> {
  const { workspaceId, search = "" } = filter;
  // They were refused.
  if (search === "" || filter.wouldRefuse === true) return [];
  let query = connection
    .selectFrom("folded_requests")
    .select("record")
    .where("request_id", ">=", search)
    .where("request_id", "<", end(search))
    .where((eb) => eb.and([...checkConditions("folded_requests.request_id", filter)]))
    .limit(foldedFoundMax);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  const entries = (await query.execute()).map(storedEntry);
  return entries
    .filter((entry) => entry.at < after.at || (entry.at === after.at && entry.attemptId < after.id))
    .filter((entry) => matchesFilter(entry, filter))
    .toSorted((one, other) => other.at - one.at || (one.attemptId < other.attemptId ? 1 : -1));
}

/** The same conditions as in SQL. */
function matchesFilter(entry: LedgerEntry, filter: RequestFilter): boolean {
  const { outcome, visiblePerson, minMs, minCostUsd = 0, maxCostUsd, tag, userAgent } = filter;
  const equal = (wanted: string | number | undefined, value: string | number | null | undefined) =>
    wanted === undefined || wanted === value;
  return (
    equal(filter.keyId, entry.keyId) &&
    equal(filter.groupId, entry.groupId) &&
    equal(filter.personId, entry.personId) &&
    equal(filter.model, entry.model) &&
    equal(filter.provider, entry.provider) &&
    equal(filter.endpoint, entry.endpoint) &&
    equal(filter.status, entry.httpStatus) &&
    equal(filter.errorCode, entry.errorCode) &&
    (outcome === "unsuccessful" || equal(outcome, entry.outcome)) &&
    (visiblePerson === undefined || entry.personId === undefined || entry.personId === visiblePerson) &&
    (minMs === undefined || entry.totalMs + entry.startedAfterMs >= minMs) &&
    nanoToUsd(entry.costNanoUsd) >= minCostUsd &&
    (maxCostUsd === undefined || nanoToUsd(entry.costNanoUsd) <= maxCostUsd) &&
    (tag === undefined ||
      (tag.value === undefined ? Object.hasOwn(entry.tags, tag.name) : entry.tags[tag.name] === tag.value)) &&
    (userAgent === undefined || entry.userAgent.toLowerCase().includes(userAgent.toLowerCase())) &&
    (filter.from === undefined || entry.at >= filter.from) &&
    (filter.to === undefined || entry.at < filter.to)
  );
}
