import { sql } from "kysely";
import { type EndpointId, noUsage, type Outcome, onlyCounts, tokensOf, usageClasses } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";
import {
  idsIn,
  inIntent,
  inSettlement,
  LedgerRecord,
  type RecordHead,
  RecordHeads,
  RecordReader,
} from "../journal/record-text.ts";

/**
 * The facts of an entry that decide what limits, grants, prices and routes would have done. Times are Unix milliseconds. Members that
 * few changes need are read from the record at each use.
 */
export class PastEntry {
  readonly #json: string;
  readonly #heads: RecordHeads;
  readonly #head: RecordHead;
  /** null: no member was needed that is read from it. */
  #text: LedgerRecord | null = null;
  readonly at: number;
  readonly endedAt: number;
  /** Few requests have the same. */
  readonly requestHash: number;
  readonly keyId: string;
  readonly requestedModel: string;
  readonly isStream: boolean;
  readonly retryIndex: number;
  readonly isPriced: boolean;
  readonly inputEstimate: number;
  readonly reservedNanoUsd: number;
  readonly wasRefused: boolean;
  readonly tokens: number;
  readonly costNanoUsd: number;
  /** Number of refused calls that the entry covers; 0: the entry is not a call, such as an adjustment. */
  readonly calls: number;
  /** It only counts tokens, which costs nothing. */
  readonly isFree: boolean;

  constructor(json: string, heads: RecordHeads) {
    reader.open(json);
    this.#json = json;
    this.#heads = heads;
    reader.skip();
    this.requestHash = reader.idHash();
    this.at = reader.number();
    const head = reader.head(heads);
    this.#head = head;
    this.keyId = head.text(inIntent.keyId);
    this.requestedModel = head.text(inIntent.requestedModel);
    this.isFree = onlyCounts(head.text(inIntent.endpoint) as EndpointId);
    this.isStream = reader.isTrue();
    this.retryIndex = reader.number();
    const price = reader.place();
    this.inputEstimate = reader.number();
    this.reservedNanoUsd = reader.number();
    reader.toSettlement();
    this.endedAt = reader.number();
    this.wasRefused = reader.begins(refused);
    reader.skip();
    reader.skip();
    this.tokens = reader.sum(tokenFactors);
    reader.skip();
    reader.skip();
    this.costNanoUsd = reader.number();
    this.isPriced = reader.endsAs(price) || isPricedLater();
    this.calls = reader.calls();
  }

  get #record(): LedgerRecord {
    this.#text ??= new LedgerRecord(this.#json, this.#heads);
    return this.#text;
  }

  get attemptId(): string {
    return idsIn(this.#json)[0];
  }

  get requestId(): string {
    return idsIn(this.#json)[1];
  }

  get workspaceId(): string {
    return this.#head.text(inIntent.workspaceId);
  }

  get groupId(): string {
    return this.#head.text(inIntent.groupId);
  }

  get personId(): string | null {
    return this.#record.textOrNull(inIntent.personId);
  }

  get model(): string {
    return this.#head.text(inIntent.model);
  }

  get provider(): string {
    return this.#head.text(inIntent.provider);
  }

  get deployment(): string {
    return this.#head.text(inIntent.deployment);
  }

  get upstreamModel(): string {
    return this.#head.text(inIntent.upstreamModel);
  }

  get endpoint(): string {
    return this.#head.text(inIntent.endpoint);
  }

  get tags(): Readonly<Record<string, string>> {
    return JSON.parse(this.#record.value(inIntent.tags)) as Readonly<Record<string, string>>;
  }

  get outcome(): Outcome {
    return this.#record.text(inSettlement.outcome) as Outcome;
  }

  get errorCode(): string | null {
    return this.#record.textOrNull(inSettlement.errorCode);
  }

  /** Counts as in the record: `usageOf` reads them. */
  get usage(): readonly number[] {
    return this.#record.numbers(inSettlement.usage);
  }

  get priceVersion(): string | null {
    return this.#record.textOrNull(inSettlement.priceVersion);
  }

  get isVendorCost(): boolean {
    return this.#record.is(inSettlement.costSource, "vendor");
  }

  get served(): string | null {
    return this.#record.textOrNull(inSettlement.served);
  }
}

const refused: Outcome = "rejected";
/** One for all entries, because each reads its record at once. */
const reader = new RecordReader();

/** Whether the settlement has a price, if its last member is another one. */
function isPricedLater(): boolean {
  for (let member = inSettlement.costNanoUsd + 1; member < inSettlement.priceVersion; member++) reader.skip();
  return reader.isText();
}

export interface PastEntriesQuery {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
  /** null: all workspaces. */
  readonly workspaceIds: readonly string[] | null;
  /** These are a large part of all workspaces. */
  readonly areMany: boolean;
  /** The last entry of the page before; null: the first page. */
  readonly after: PagePosition | null;
  readonly limit: number;
}

/** Returns a function that reads a page of entries, oldest first. Reads records only, because each further column of a row takes time. */
export function pastEntryReader(): (connection: Connection, query: PastEntriesQuery) => Promise<readonly PastEntry[]> {
  const heads = new RecordHeads();
  return async (connection, query) => {
    const { from, to, workspaceIds, areMany, after, limit } = query;
    let rows = connection
      .selectFrom("ledger_entries")
      .select("record")
      .where("at", "<", to)
      .orderBy("at")
      .orderBy("attempt_id")
      .limit(limit);
    // One lower bound only: SQLite would begin each page at the other one.
    rows = rows.where(isAfter(["at", "attempt_id"], after ?? { at: from, id: "" }, "oldest first"));
    // For several workspaces, SQLite sorts what it finds in their index. To pass over entries of others in the table takes less time, if
    // they are not many.
    const workspaceId = areMany ? sql<string>`coalesce(workspace_id, '')` : sql<string>`workspace_id`;
    if (workspaceIds !== null) rows = rows.where(workspaceId, "in", [...workspaceIds]);
    return (await rows.execute()).map(({ record }) => new PastEntry(record, heads));
  };
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
  const heads = new RecordHeads();
  const entries = rows.map(({ record }) => new PastEntry(record, heads));
  return new Map(entries.map(({ requestId, endpoint }) => [requestId, endpoint]));
}

/** 1 for classes that count as tokens, in the order of a record. */
const tokenFactors = usageClasses.map((name) => tokensOf({ ...noUsage, [name]: 1 }));
