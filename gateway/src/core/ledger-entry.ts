import { ledgerTable, usageTable } from "@sluice/contract/words";
import type { DialectId, EndpointId } from "./dialect.ts";
import type { CountedUse } from "./hold-prices.ts";
import type { NanoUsd } from "./money.ts";
import type { Settled } from "./settle.ts";
import type { KeptObject } from "./upstream-object.ts";
import type { Usage, UsageSource } from "./usage.ts";

/**
 * `pending`: the upstream still makes the answer (a background response). Such an entry is in journals only: it becomes a task, and
 * that writes the attempt's one entry into the ledger when the answer has ended.
 */
export type Outcome = "succeeded" | "failed" | "cancelled" | "interrupted" | "rejected" | "pending";

/** What is known before an attempt is sent; written ahead. Times are Unix milliseconds. */
export interface Intent {
  readonly attemptId: string;
  readonly requestId: string;
  readonly at: number;
  /** How long the caller had waited when the attempt began, from the arrival of the call: its own durations come on top. */
  readonly startedAfterMs: number;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  /** User id of whoever called, by a sign-in or with a personal key; absent for a key of no one person. */
  readonly personId?: string | undefined;
  /** The model that is paid for: the one asked for, or the fallback that served. */
  readonly model: string;
  readonly requestedModel: string;
  /** Empty strings when the call was refused before a deployment was chosen. */
  readonly provider: string;
  readonly deployment: string;
  readonly upstreamModel: string;
  readonly endpoint: EndpointId;
  readonly callerDialect: DialectId;
  readonly upstreamDialect: DialectId;
  readonly stream: boolean;
  readonly retryIndex: number;
  readonly priceVersion: string | null;
  /** Estimated input tokens, so that a recovered attempt can be priced. */
  readonly inputEstimate: number;
  /** The same of what is charged by something other than tokens. In journals only: entries say what was used. */
  readonly counted?: CountedUse;
  readonly reservedNanoUsd: NanoUsd;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Of a call that was passed through: method and kind of path (`GET /files/{id}`), with nothing in it that its caller made up. */
  readonly operation?: string | undefined;
}

/** The tag that names the session of a coding agent or another client, as the client sent it. */
export const sessionTag = "session";

/** How far a running stream has come. Usage is the best knowledge so far. */
export interface Checkpoint {
  readonly attemptId: string;
  readonly at: number;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  /** The version that the answer is charged by, as far as it says so. */
  readonly priceVersion: string | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  /** The id under which the upstream keeps its answer (a stored response); else null. By it the answer of a dead process is found. */
  readonly upstreamId: string | null;
  /** Objects that the upstream keeps, as far as they are known. In journals and in `upstream_objects`, not in the ledger's table. */
  readonly objects?: readonly KeptObject[];
  /** The upstream goes on whatever becomes of this process. `usage` is what the whole answer probably uses. */
  readonly pending?: boolean;
}

/** How an attempt ended. Durations are milliseconds with fractions, null where it did not come so far. */
export interface Settlement extends Settled, Omit<Checkpoint, "at" | "pending" | "priceVersion"> {
  readonly endedAt: number;
  readonly outcome: Outcome;
  /** What the caller was answered, or would have been. */
  readonly httpStatus: number;
  /** HTTP status of the upstream; null when it did not answer. */
  readonly upstreamStatus: number | null;
  readonly errorCode: string | null;
  readonly rawUsage: string | null;
  readonly totalMs: number;
  readonly upstreamMs: number | null;
  readonly overheadMs: number | null;
  /** What could not be carried between the dialects of caller and upstream: short texts, no content of the call. Absent: all could. */
  readonly warnings?: readonly string[];
}

/** The fact: one row per attempt. */
export type LedgerEntry = Omit<Intent, "counted"> & Settlement & Partial<Repeated>;

/** Many refusals of one key in one second that are alike are one entry: that of the first of them, but for a few before it. */
interface Repeated {
  /** How many calls the entry stands for; 1 when it is left out. */
  readonly calls: number;
}

/** What refused calls are counted under that asked for no model of ours: their callers may write anything. */
const unknownModel = "(unknown)";
/** And those whose body was not read: they were refused before. */
export const unreadModel = "(not read)";

/** What calls are counted under that are passed through and paid by no model's price. */
export const passedModel = "(pass-through)";

/** The model that a refused call is counted under. */
export function refusedModel(known: string | undefined, asked: string): string {
  return known ?? (asked === unreadModel || asked === passedModel ? asked : unknownModel);
}

/** Member by member: each call has one, and two spread objects cost more than its search for a deployment. */
export function joinEntry(intent: Intent, settlement: Settlement): LedgerEntry {
  const entry: { -readonly [Member in keyof LedgerEntry]: LedgerEntry[Member] } = {
    attemptId: intent.attemptId,
    requestId: intent.requestId,
    at: intent.at,
    startedAfterMs: intent.startedAfterMs,
    workspaceId: intent.workspaceId,
    groupId: intent.groupId,
    keyId: intent.keyId,
    model: intent.model,
    requestedModel: intent.requestedModel,
    provider: intent.provider,
    deployment: intent.deployment,
    upstreamModel: intent.upstreamModel,
    endpoint: intent.endpoint,
    callerDialect: intent.callerDialect,
    upstreamDialect: intent.upstreamDialect,
    stream: intent.stream,
    retryIndex: intent.retryIndex,
    priceVersion: settlement.priceVersion,
    inputEstimate: intent.inputEstimate,
    reservedNanoUsd: intent.reservedNanoUsd,
    userAgent: intent.userAgent,
    tags: intent.tags,
    endedAt: settlement.endedAt,
    outcome: settlement.outcome,
    httpStatus: settlement.httpStatus,
    upstreamStatus: settlement.upstreamStatus,
    errorCode: settlement.errorCode,
    usage: settlement.usage,
    usageSource: settlement.usageSource,
    rawUsage: settlement.rawUsage,
    costNanoUsd: settlement.costNanoUsd,
    totalMs: settlement.totalMs,
    firstByteMs: settlement.firstByteMs,
    firstTokenMs: settlement.firstTokenMs,
    upstreamMs: settlement.upstreamMs,
    overheadMs: settlement.overheadMs,
    upstreamId: settlement.upstreamId,
  };
  if (intent.personId !== undefined) entry.personId = intent.personId;
  if (intent.operation !== undefined) entry.operation = intent.operation;
  if (settlement.warnings !== undefined) entry.warnings = settlement.warnings;
  if (settlement.objects !== undefined) entry.objects = settlement.objects;
  copyCharge(settlement, entry);
  return entry;
}

type Charge = Omit<Settled, "costNanoUsd" | "priceVersion">;

/** Copies the optional members of a charge. Most answers have none, and a spread costs more than these comparisons. */
export function copyCharge(from: Charge, to: { -readonly [Member in keyof Charge]: Charge[Member] }): void {
  if (from.costSource !== undefined) to.costSource = from.costSource;
  if (from.vendorCostNanoUsd !== undefined) to.vendorCostNanoUsd = from.vendorCostNanoUsd;
  if (from.ownCostNanoUsd !== undefined) to.ownCostNanoUsd = from.ownCostNanoUsd;
  if (from.served !== undefined) to.served = from.served;
  if (from.servedModel !== undefined) to.servedModel = from.servedModel;
  if (from.unpriced !== undefined) to.unpriced = from.unpriced;
}

export type ExportedValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>> | null;

type Read = (entry: LedgerEntry) => ExportedValue;

/** Times that no column holds: from the arrival of the whole call. They stand before the tags. */
const worked: readonly [string, Read][] = [
  ["call_first_byte_ms", (e) => sinceArrival(e, e.firstByteMs)],
  ["call_first_token_ms", (e) => sinceArrival(e, e.firstTokenMs)],
  ["call_total_ms", (e) => sinceArrival(e, e.totalMs)],
];

/**
 * An entry as the outside sees it: each column that the table of the ledger exports and where it comes from, in the order of the
 * table. Times are Unix milliseconds, durations milliseconds.
 */
const columns: readonly [string, Read][] = ledgerTable.flatMap((row): [string, Read][] => {
  if (row.exported !== true) return [];
  if (row.kind === "usage") return usageTable.map(({ name, column }) => [column, (e) => e.usage[name]]);
  const absent = "absent" in row ? row.absent : null;
  const own: [string, Read] = [row.column, (e) => e[row.member] ?? absent];
  return row.member === "tags" ? [...worked, own] : [own];
});

/** How long the caller of the whole call had waited then. */
function sinceArrival({ startedAfterMs }: LedgerEntry, ms: number | null): number | null {
  return ms === null ? null : startedAfterMs + ms;
}

export const exportedColumns: readonly string[] = columns.map(([column]) => column);

const readers = columns.map(([, read]) => read);

export function exportedValues(entry: LedgerEntry): readonly ExportedValue[] {
  return readers.map((read) => read(entry));
}

export function exportedRow(entry: LedgerEntry): Readonly<Record<string, ExportedValue>> {
  return Object.fromEntries(exportedColumns.map((column, index) => [column, readers[index]?.(entry) ?? null]));
}
