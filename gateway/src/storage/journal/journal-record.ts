import { type LedgerRow, ledgerTable } from "@sluice/contract/words";
import {
  type Checkpoint,
  type GuardrailCheckEntry,
  type Intent,
  type LedgerEntry,
  noUsage,
  type Settlement,
  type Usage,
  usageClasses,
} from "#core/index.ts";
import type { JournalRecord } from "#ports/index.ts";

/**
 * The format of journal records, and of the records in the ledger table. A journal record is a line: eight hex digits of CRC-32, a
 * space, its type (i, c, s, r, g), a space, a JSON array, a line feed. The CRC covers everything between its space and the line feed.
 * JSON contains no raw line feed, so a line feed always ends a record.
 *
 * i (intent)     the members of Intent at their indexes in `ledgerTable`
 * c (checkpoint) the members of Checkpoint
 * s (settle)     the members of Settlement at their indexes in `ledgerTable`
 * r (refuse)     [intent, settle, calls] of a call that was refused before any attempt, or of several equal refusals
 * g (check)      the members of GuardrailCheckEntry
 *
 * The ledger table holds records in the form of r. Durations are whole microseconds. Usage is an array of counts without trailing zeros.
 * Trailing nulls are omitted.
 *
 * New members are appended to the arrays, so that the next version can read the files of this one.
 */
export function encodeIntent(intent: Intent): string {
  return JSON.stringify(intentRow(intent));
}

export function encodeCheckpoint(checkpoint: Checkpoint): string {
  return JSON.stringify([
    checkpoint.attemptId,
    checkpoint.at,
    usageRow(checkpoint.usage),
    checkpoint.usageSource,
    micros(checkpoint.firstByteMs),
    micros(checkpoint.firstTokenMs),
    checkpoint.upstreamId,
    checkpoint.objects ?? null,
    checkpoint.priceVersion,
    checkpoint.pending === true,
  ]);
}

export function encodeSettlement(settlement: Settlement): string {
  return JSON.stringify(settlementRow(settlement));
}

export function encodeRefusal(entry: LedgerEntry): string {
  const intent = JSON.stringify(intentRow(entry));
  const settlement = JSON.stringify(settlementRow(entry));
  return entry.calls === undefined ? `[${intent},${settlement}]` : `[${intent},${settlement},${entry.calls}]`;
}

export function encodeCheck(check: GuardrailCheckEntry): string {
  return JSON.stringify(checkMembers.map((member) => check[member]));
}

export function decodeCheck(json: string): GuardrailCheckEntry {
  return toCheck(JSON.parse(json) as RecordRow);
}

/** The array of an intent or a settlement. */
type RecordRow = readonly unknown[];

/**
 * The entry of a record of the ledger table. Includes the objects that the upstream stores, which the ledger's readers do not return.
 */
export function entryOfRecord(json: string): LedgerEntry {
  return toEntry(JSON.parse(json) as EntryRow);
}

type EntryRow = readonly [intent: RecordRow, settlement: RecordRow, calls?: number];

function toEntry([intent, settlement, calls = 1]: EntryRow): LedgerEntry {
  const { counted: _, ...begun } = toIntent(intent);
  return { ...begun, ...toSettlement(settlement), ...(calls === 1 ? {} : { calls }) };
}

/** The attempt id at the start of a record, read without parsing the rest. */
export function attemptIdIn(json: string): string {
  const end = json.indexOf('"', 2);
  const id = json.slice(2, end);
  return id.includes("\\") ? String((JSON.parse(json) as RecordRow)[0]) : id;
}

export function decodeIntent(json: string): Intent {
  return toIntent(JSON.parse(json) as RecordRow);
}

export function decodeCheckpoint(json: string): Checkpoint {
  return toCheckpoint(JSON.parse(json) as CheckpointRow);
}

export const recordTypes = { intent: 0x69, checkpoint: 0x63, settle: 0x73, refuse: 0x72, check: 0x67 } as const;

/** Indexes of members in the arrays of intents and settlements. */
export const intentPlaces = placesIn("intent");
export const settlementPlaces = placesIn("settle");
/** Index of the objects of a settlement, which `ledgerTable` does not list. */
export const objectsPlace = 17;

type Listed = (typeof ledgerTable)[number];
type MemberIn<Of extends "intent" | "settle"> = Extract<
  Listed,
  { readonly journal: Readonly<Record<Of, number>> }
>["member"];

function placesIn<Of extends "intent" | "settle">(record: Of): Readonly<Record<MemberIn<Of>, number>> {
  const rows: readonly LedgerRow[] = ledgerTable;
  const places = rows.flatMap(({ member, journal }) =>
    journal[record] === undefined ? [] : [[member, journal[record]]],
  );
  return Object.fromEntries(places);
}

/** Bytes of a line before its JSON. */
export const recordHeadBytes = 11;

/** Whether the bytes from `start` to `end` (without the line feed) are one complete, undamaged record. */
export function isRecord(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < recordHeadBytes + 2 || bytes[start + 8] !== space || bytes[start + 10] !== space) return false;
  let crc = 0;
  for (let at = start; at < start + 8; at++) {
    const digit = hexValue(bytes[at] ?? 0);
    if (digit < 0) return false;
    crc = crc * 16 + digit;
  }
  return crc === Bun.hash.crc32(bytes.subarray(start + 9, end));
}

/** Parses bytes that passed `isRecord`. null: a type of a later version. */
export function parseRecord(bytes: Buffer, start: number, end: number): JournalRecord | null {
  const type = bytes[start + 9];
  const row = parseRow(bytes, start, end);
  switch (type) {
    case recordTypes.intent:
      return { type: "intent", value: toIntent(row as RecordRow) };
    case recordTypes.checkpoint:
      return { type: "checkpoint", value: toCheckpoint(row as CheckpointRow) };
    case recordTypes.settle:
      return { type: "settle", value: toSettlement(row as RecordRow) };
    case recordTypes.refuse:
      return { type: "refuse", value: toEntry(row as EntryRow) };
    case recordTypes.check:
      return { type: "check", value: toCheck(row as RecordRow) };
    default:
      return null;
  }
}

function parseRow(bytes: Buffer, start: number, end: number): unknown {
  return JSON.parse(recordJson(bytes, start, end));
}

/** The JSON of such a record. */
export function recordJson(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("utf8", start + recordHeadBytes, end);
}

const space = 0x20;

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

// Rows are not validated: the CRC protects the bytes, and only this file writes them.
type CheckpointRow = readonly [
  string,
  number,
  readonly number[],
  Checkpoint["usageSource"],
  number | null,
  number | null,
  string | null,
  Checkpoint["objects"] | null,
  string | null,
  boolean,
];

/** In the order of a record. New ones are appended. */
const checkMembers = [
  ...(["checkId", "at", "requestId", "workspaceId", "groupId", "keyId", "personId", "guardrailId"] as const),
  ...(["guardrailName", "definition", "side", "action", "enforced", "verdict", "counts", "paths"] as const),
  ...(["unmasked", "unreadable", "durationMs", "error"] as const),
] satisfies readonly (keyof GuardrailCheckEntry)[];

function toCheck(row: RecordRow): GuardrailCheckEntry {
  const members = checkMembers.map((member, place) => [member, row[place] ?? null]);
  return Object.fromEntries(members) as unknown as GuardrailCheckEntry;
}

/** Counts in the order of `usageClasses`, without trailing zeros. New classes are appended. */
function usageRow(usage: Usage): readonly number[] {
  const row: number[] = [];
  for (let index = 0; index < usageClasses.length; index++) {
    const count = usage[usageClasses[index] as keyof Usage];
    if (count === 0) continue;
    while (row.length < index) row.push(0);
    row.push(count);
  }
  return row;
}

function micros(ms: number): number;
function micros(ms: number | null): number | null;
function micros(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1_000);
}

export function usageOf(row: readonly number[]): Usage {
  const usage: { -readonly [Class in keyof Usage]: number } = { ...noUsage };
  for (let index = 0; index < row.length && index < usageClasses.length; index++) {
    const name = usageClasses[index];
    if (name !== undefined) usage[name] = row[index] ?? 0;
  }
  return usage;
}

interface Place {
  readonly member: string;
  readonly kind: LedgerRow["kind"] | null;
  /** null in the file if the entry lacks it. */
  readonly optional: boolean;
}

/** With the members that are not in `ledgerTable`. */
const intentMembers = placesOf("intent", { 22: { member: "counted", kind: null, optional: true } });
const settlementMembers = placesOf("settle", { [objectsPlace]: { member: "objects", kind: null, optional: true } });

function placesOf(record: "intent" | "settle", more: Readonly<Record<number, Place>>): readonly Place[] {
  const places: Record<number, Place> = { ...more };
  const rows: readonly LedgerRow[] = ledgerTable;
  for (const { member, kind, absent, journal } of rows) {
    const place = journal[record];
    if (place !== undefined) places[place] = { member, kind, optional: absent !== undefined };
  }
  return Array.from({ length: Object.keys(places).length }, (_, place) => {
    const member = places[place];
    if (member === undefined) throw new Error(`No member has index ${place} in the journal's ${record} records.`);
    return member;
  });
}

function membersOf(places: readonly Place[], row: RecordRow): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [place, { member, kind, optional }] of places.entries()) {
    // A file of the previous version lacks the newest members.
    const written = row[place] ?? null;
    if (written === null && optional) continue;
    if (kind === "usage") value[member] = usageOf(written as readonly number[]);
    else if (kind === "ms") value[member] = millis(written as number | null);
    else value[member] = written;
  }
  return value;
}

function millis(micros: number | null): number | null {
  return micros === null ? null : micros / 1_000;
}

/** Written out: reading members by name takes 1.5 times as long. The order is that in `ledgerTable`. */
function intentRow(intent: Intent): RecordRow {
  const row: unknown[] = [
    intent.attemptId,
    intent.requestId,
    intent.at,
    intent.workspaceId,
    intent.groupId,
    intent.keyId,
    intent.model,
    intent.requestedModel,
    intent.provider,
    intent.deployment,
    intent.upstreamModel,
    intent.endpoint,
    intent.callerDialect,
    intent.upstreamDialect,
    intent.stream,
    intent.retryIndex,
    intent.priceVersion,
    intent.inputEstimate,
    intent.reservedNanoUsd,
    intent.userAgent,
    intent.tags,
    micros(intent.startedAfterMs),
    intent.counted ?? null,
    intent.operation ?? null,
    intent.personId ?? null,
    intent.actorId ?? null,
    intent.session ?? null,
    intent.sessionSource ?? null,
    intent.batchId ?? null,
    intent.customId ?? null,
    intent.adjustment ?? null,
    intent.adjusts ?? null,
  ];
  return withoutLastNulls(row);
}

function toIntent(row: RecordRow): Intent {
  return membersOf(intentMembers, row) as unknown as Intent;
}

function settlementRow(settlement: Settlement): RecordRow {
  const row: unknown[] = [
    settlement.attemptId,
    settlement.endedAt,
    settlement.outcome,
    settlement.httpStatus,
    settlement.errorCode,
    usageRow(settlement.usage),
    settlement.usageSource,
    settlement.rawUsage,
    settlement.costNanoUsd,
    micros(settlement.totalMs),
    micros(settlement.firstByteMs),
    micros(settlement.firstTokenMs),
    micros(settlement.upstreamMs),
    micros(settlement.overheadMs),
    settlement.upstreamId,
    settlement.upstreamStatus,
    settlement.warnings ?? null,
    settlement.objects ?? null,
    settlement.priceVersion,
    settlement.costSource ?? null,
    settlement.vendorCostNanoUsd ?? null,
    settlement.served ?? null,
    settlement.unpriced ?? null,
    settlement.ownCostNanoUsd ?? null,
    settlement.servedModel ?? null,
    settlement.cacheSavedNanoUsd ?? null,
  ];
  return withoutLastNulls(row);
}

function withoutLastNulls(row: unknown[]): RecordRow {
  let length = row.length;
  while (row[length - 1] === null) length--;
  row.length = length;
  return row;
}

function toSettlement(row: RecordRow): Settlement {
  return membersOf(settlementMembers, row) as unknown as Settlement;
}

function toCheckpoint(row: CheckpointRow): Checkpoint {
  return {
    attemptId: row[0],
    at: row[1],
    usage: usageOf(row[2]),
    usageSource: row[3],
    firstByteMs: millis(row[4]),
    firstTokenMs: millis(row[5]),
    upstreamId: row[6],
    ...(row[7] == null ? {} : { objects: row[7] }),
    priceVersion: row[8],
    ...(row[9] ? { pending: true } : {}),
  };
}
