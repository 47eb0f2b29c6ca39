import { noUsage, type Outcome, tokensOf, usageClasses } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";
import { inIntent, inSettlement, RecordHeads, RecordText } from "../journal/record-text.ts";

/**
 * The facts of an entry that decide what limits, grants, prices and routes would have done. Times are Unix milliseconds. Members that
 * few changes need are read from the record at each use.
 */
export class PastEntry {
  readonly #record: RecordText;
  readonly at: number;
  readonly endedAt: number;
  readonly attemptId: string;
  readonly requestId: string;
  readonly keyId: string;
  readonly requestedModel: string;
  readonly isStream: boolean;
  readonly retryIndex: number;
  readonly tokens: number;
  readonly costNanoUsd: number;
  /** Number of refused calls that the entry covers; 0: the entry is not a call, such as an adjustment. */
  readonly calls: number;

  constructor(json: string, heads: RecordHeads) {
    const record = new RecordText(json, heads);
    this.#record = record;
    this.at = record.number(inIntent.at);
    this.endedAt = record.number(inSettlement.endedAt);
    this.attemptId = record.id(inIntent.attemptId);
    this.requestId = record.id(inIntent.requestId);
    this.keyId = record.text(inIntent.keyId);
    this.requestedModel = record.text(inIntent.requestedModel);
    this.isStream = record.isTrue(inIntent.stream);
    this.retryIndex = record.number(inIntent.retryIndex);
    this.tokens = record.sum(inSettlement.usage, tokenFactors);
    this.costNanoUsd = record.number(inSettlement.costNanoUsd);
    this.calls = record.calls;
  }

  get workspaceId(): string {
    return this.#record.text(inIntent.workspaceId);
  }

  get groupId(): string {
    return this.#record.text(inIntent.groupId);
  }

  get personId(): string | null {
    return this.#record.textOrNull(inIntent.personId);
  }

  get model(): string {
    return this.#record.text(inIntent.model);
  }

  get provider(): string {
    return this.#record.text(inIntent.provider);
  }

  get deployment(): string {
    return this.#record.text(inIntent.deployment);
  }

  get upstreamModel(): string {
    return this.#record.text(inIntent.upstreamModel);
  }

  get endpoint(): string {
    return this.#record.text(inIntent.endpoint);
  }

  get inputEstimate(): number {
    return this.#record.number(inIntent.inputEstimate);
  }

  get reservedNanoUsd(): number {
    return this.#record.number(inIntent.reservedNanoUsd);
  }

  get tags(): Readonly<Record<string, string>> {
    return this.#record.value(inIntent.tags) as Readonly<Record<string, string>>;
  }

  get outcome(): Outcome {
    return this.#record.text(inSettlement.outcome) as Outcome;
  }

  get wasRefused(): boolean {
    return this.#record.is(inSettlement.outcome, refused);
  }

  get errorCode(): string | null {
    return this.#record.textOrNull(inSettlement.errorCode);
  }

  /** Counts as in the record: `usageOf` reads them. */
  get usage(): readonly number[] {
    return this.#record.value(inSettlement.usage) as readonly number[];
  }

  get priceVersion(): string | null {
    return this.#record.textOrNull(inSettlement.priceVersion);
  }

  get isPriced(): boolean {
    return !this.#record.isNull(inSettlement.priceVersion);
  }

  get isVendorCost(): boolean {
    return this.#record.is(inSettlement.costSource, "vendor");
  }

  get served(): string | null {
    return this.#record.textOrNull(inSettlement.served);
  }
}

const refused: Outcome = "rejected";

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

/** Returns a function that reads a page of entries, oldest first. Reads records only, because each further column of a row takes time. */
export function pastEntryReader(): (connection: Connection, query: PastEntriesQuery) => Promise<readonly PastEntry[]> {
  const heads = new RecordHeads();
  return async (connection, query) => {
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
