import { ledgerTable, unnamedModels, usageTable } from "@sluice/contract/words";
import type { DialectId, EndpointId } from "./dialect.ts";
import type { CountedUse } from "./hold-prices.ts";
import type { NanoUsd } from "./money.ts";
import type { SessionSource } from "./session.ts";
import type { Settled } from "./settle.ts";
import type { AttemptObject } from "./upstream-object.ts";
import { noUsage, type Usage, type UsageSource } from "./usage.ts";

/**
 * `pending`: a background response that the upstream still produces. Such entries exist in journals only. Each becomes a task, which
 * writes the entry into the ledger at the end.
 */
export type Outcome = "succeeded" | "failed" | "cancelled" | "interrupted" | "rejected" | "pending";

/** Why money was booked without a call. `storage`: a day of what a vendor stores. */
export type AdjustmentReason = "reconciliation" | "opening_balance" | "credit" | "correction" | "storage";

/** The facts of an attempt before it is sent, written to the journal first. Times are Unix milliseconds. */
export interface Intent {
  readonly attemptId: string;
  readonly requestId: string;
  readonly at: number;
  /** Time from the arrival of the call to the start of the attempt. Durations of the attempt come on top. */
  readonly startedAfterMs: number;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  /** User id of the key's owner, who pays for the call; absent for a key without an owner. */
  readonly personId?: string | undefined;
  /** User id of the signed-in user who made the call in the console, or accepted the adjustment; absent for all other calls. */
  readonly actorId?: string | undefined;
  /** The model that is charged: the requested one, or the fallback that served. */
  readonly model: string;
  readonly requestedModel: string;
  /** "" if the call was refused before a deployment was chosen. */
  readonly provider: string;
  readonly deployment: string;
  readonly upstreamModel: string;
  readonly endpoint: EndpointId;
  readonly callerDialect: DialectId;
  readonly upstreamDialect: DialectId;
  readonly stream: boolean;
  readonly retryIndex: number;
  readonly priceVersion: string | null;
  /** Estimated input tokens, for pricing a recovered attempt. */
  readonly inputEstimate: number;
  /** Estimated units that are not tokens. In journals only. */
  readonly counted?: CountedUse | undefined;
  readonly reservedNanoUsd: NanoUsd;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  /** For a passed-through call: method and kind of path (`GET /files/{id}`), without values from the caller. */
  readonly operation?: string | undefined;
  /** The conversation that the call belongs to; absent if it is unknown. Scoped to the key. */
  readonly session?: string | undefined;
  /** Set with `session`. */
  readonly sessionSource?: SessionSource | undefined;
  /** The batch that the call is a row of; absent for all other calls. */
  readonly batchId?: string | undefined;
  /** Set with `batchId`: the caller's id of the row. */
  readonly customId?: string | undefined;
  /** Set on adjustments only: why it was booked. */
  readonly adjustment?: AdjustmentReason | undefined;
  /** Set with `adjustment`: the usage class that it corrects, the id of the import, or the id of the vector store. */
  readonly adjusts?: string | undefined;
}

/** Progress of a running stream. Usage is the best estimate so far. */
export interface Checkpoint {
  readonly attemptId: string;
  readonly at: number;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  /** The price version of the answer. */
  readonly priceVersion: string | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  /** Id under which the upstream stores its answer, or null. It allows to fetch the answer of a dead process. */
  readonly upstreamId: string | null;
  /** Objects that the upstream stored. In journals and in `upstream_objects`, not in the ledger's table. */
  readonly objects?: readonly AttemptObject[];
  /** The upstream continues without this process. `usage` is an estimate of the whole answer. */
  readonly pending?: boolean;
}

/** The result of an attempt. Durations are milliseconds with fractions; null if that point was not reached. */
export interface Settlement extends Settled, Omit<Checkpoint, "at" | "pending" | "priceVersion"> {
  readonly endedAt: number;
  readonly outcome: Outcome;
  /** The status that the caller received, or would have. */
  readonly httpStatus: number;
  /** null if the upstream did not answer. */
  readonly upstreamStatus: number | null;
  readonly errorCode: string | null;
  readonly rawUsage: string | null;
  readonly totalMs: number;
  readonly upstreamMs: number | null;
  readonly overheadMs: number | null;
  /** Warnings of the translation between dialects: short texts without content of the call. Absent if there are none. */
  readonly warnings?: readonly string[];
}

/** One row per attempt. */
export type LedgerEntry = Omit<Intent, "counted"> & Settlement & Partial<Repeated>;

/** Similar refusals of one key within a second are merged into one entry. */
interface Repeated {
  /** Number of calls that the entry covers; 1 by default. */
  readonly calls: number;
}

/** Model name of refused calls for unknown models, because callers may send any text. */
const unknownModel = unnamedModels.unknown;
/** Model name of calls that were refused before their body was read. */
export const unreadModel = unnamedModels.unread;

/** Model name of passed-through calls that no model's price covers. */
export const passedModel = unnamedModels.passThrough;

/** The model name for the entry of a refused call. */
export function refusedModel(found: string | undefined, requested: string): string {
  return found ?? (requested === unreadModel || requested === passedModel ? requested : unknownModel);
}

type Attempted = Intent & Settlement;

/** An attempt that has not ended. Its entry is this object, filled in twice, because a copy is slower than choosing a deployment. */
export type OpenEntry = { -readonly [Member in keyof Attempted]: Attempted[Member] };

/** An open entry without the facts of its call. */
export function openEntry(): OpenEntry {
  return {
    attemptId: "",
    requestId: "",
    at: 0,
    startedAfterMs: 0,
    workspaceId: "",
    groupId: "",
    keyId: "",
    personId: undefined,
    actorId: undefined,
    model: "",
    requestedModel: "",
    provider: "",
    deployment: "",
    upstreamModel: "",
    endpoint: "chat",
    operation: undefined,
    callerDialect: "openai-chat",
    upstreamDialect: "openai-chat",
    stream: false,
    retryIndex: 0,
    priceVersion: null,
    inputEstimate: 0,
    reservedNanoUsd: 0,
    userAgent: "",
    tags: noTags,
    session: undefined,
    sessionSource: undefined,
    batchId: undefined,
    customId: undefined,
    counted: undefined,
    endedAt: 0,
    outcome: "interrupted",
    httpStatus: 0,
    upstreamStatus: null,
    errorCode: null,
    usage: noUsage,
    usageSource: "none",
    rawUsage: null,
    costNanoUsd: 0,
    totalMs: 0,
    firstByteMs: null,
    firstTokenMs: null,
    upstreamMs: null,
    overheadMs: null,
    upstreamId: null,
  };
}

const noTags = Object.freeze({});

/** Defaults of entries that are not of one attempt: of refusals, tasks, rows of vendors' batches, adjustments. */
export const blankEntry = {
  startedAfterMs: 0,
  stream: false,
  retryIndex: 0,
  priceVersion: null,
  inputEstimate: 0,
  reservedNanoUsd: 0,
  upstreamStatus: null,
  errorCode: null,
  usage: noUsage,
  usageSource: "none",
  rawUsage: null,
  costNanoUsd: 0,
  firstByteMs: null,
  firstTokenMs: null,
  upstreamMs: null,
  overheadMs: null,
  upstreamId: null,
} as const satisfies Partial<LedgerEntry>;

export function joinEntry({ counted: _, ...begun }: Intent, settlement: Settlement): LedgerEntry {
  return { ...begun, ...settlement };
}

export type ExportedValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>> | null;

type Read = (entry: LedgerEntry) => ExportedValue;

/** Exported values without a column in the table: times since the arrival of the call. They precede the tags. */
const computedColumns: readonly [string, Read][] = [
  ["call_first_byte_ms", (e) => sinceArrival(e, e.firstByteMs)],
  ["call_first_token_ms", (e) => sinceArrival(e, e.firstTokenMs)],
  ["call_total_ms", (e) => sinceArrival(e, e.totalMs)],
];

/** Exported columns in the order of the ledger table. Times are Unix milliseconds, durations milliseconds. */
const columns: readonly [string, Read][] = ledgerTable.flatMap((row): [string, Read][] => {
  if (row.exported !== true) return [];
  if (row.kind === "usage") return usageTable.map(({ name, column }) => [column, (e) => e.usage[name]]);
  const absent = "absent" in row ? row.absent : null;
  const own: [string, Read] = [row.column, (e) => e[row.member] ?? absent];
  return row.member === "tags" ? [...computedColumns, own] : [own];
});

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
