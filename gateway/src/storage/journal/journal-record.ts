import { type LedgerRow, ledgerTable } from "@sluice/contract/words";
import {
  type Checkpoint,
  type Intent,
  type LedgerEntry,
  noUsage,
  type Settlement,
  type Usage,
  usageClasses,
} from "#core/index.ts";
import type { JournalRecord } from "#ports/index.ts";

/**
 * The one place that knows how a journal record looks. A record is a line: eight hex digits of CRC-32, a space, a
 * letter (i, c, s, r), a space, a JSON array, a line feed. The CRC covers everything after its space, without the line
 * feed. JSON never holds a raw line feed, so a line feed always ends a record.
 *
 * i (intent)     the members of Intent at the places that the contract's table of the ledger gives them
 * c (checkpoint) the members of Checkpoint, usage as an array
 * s (settle)     the members of Settlement at their places in that table, usage as an array
 * r (refuse)     [intent, settle, calls] of a call that was refused before any attempt, or of several alike
 *
 * New members are added at the end of an array, so that the next version reads the files of this one.
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
    checkpoint.firstByteMs,
    checkpoint.firstTokenMs,
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
  const row = [intentRow(entry), settlementRow(entry)];
  return JSON.stringify(entry.calls === undefined ? row : [...row, entry.calls]);
}

/** The way back from `encodeIntent`. */
export function decodeIntent(json: string): Intent {
  return toIntent(JSON.parse(json) as JournalRow);
}

export function decodeCheckpoint(json: string): Checkpoint {
  return toCheckpoint(JSON.parse(json) as CheckpointRow);
}

export const recordLetters = { intent: 0x69, checkpoint: 0x63, settle: 0x73, refuse: 0x72 } as const;

/** Where the objects stand in the array of a settlement. */
export const objectsPlace = 17;

/** Bytes of a line before its JSON. */
export const recordHeadBytes = 11;

/** Whether the bytes from `start` to `end` (without the line feed) are one whole, undamaged record. */
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

/** The record in bytes that `isRecord` has found whole. Null for a letter of a later version. */
export function parseRecord(bytes: Buffer, start: number, end: number): JournalRecord | null {
  const letter = bytes[start + 9];
  const row = parseRow(bytes, start, end);
  switch (letter) {
    case recordLetters.intent:
      return { type: "intent", value: toIntent(row as JournalRow) };
    case recordLetters.checkpoint:
      return { type: "checkpoint", value: toCheckpoint(row as CheckpointRow) };
    case recordLetters.settle:
      return { type: "settle", value: toSettlement(row as JournalRow) };
    case recordLetters.refuse: {
      const [intent, settlement, calls] = row as [JournalRow, JournalRow, number?];
      const repeated = calls === undefined ? {} : { calls };
      return { type: "refuse", value: { ...toIntent(intent), ...toSettlement(settlement), ...repeated } };
    }
    default:
      return null;
  }
}

/** The array of such a record, for who knows its letter. */
export function parseRow(bytes: Buffer, start: number, end: number): unknown {
  return JSON.parse(bytes.toString("utf8", start + recordHeadBytes, end));
}

const space = 0x20;

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

/*
 * The rows below are read as what was written: the CRC has vouched for the bytes, and only this file writes them.
 */
type JournalRow = readonly unknown[];
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

/** In the order of the table of classes, to which new ones are added at the end. */
function usageRow(usage: Usage): readonly number[] {
  const row: number[] = [];
  for (const name of usageClasses) row.push(usage[name]);
  return row;
}

/** A file of the version before lacks the newest classes. */
function toUsage(row: readonly number[]): Usage {
  const usage: { -readonly [Class in keyof Usage]: number } = { ...noUsage };
  for (let index = 0; index < row.length && index < usageClasses.length; index++) {
    const name = usageClasses[index];
    if (name !== undefined) usage[name] = row[index] ?? 0;
  }
  return usage;
}

interface Place {
  readonly member: string;
  /** An entry may leave it out; files then hold null. */
  readonly optional: boolean;
}

/** What is not in the ledger's table. */
const intentPlaces = placesOf("intent", { 22: { member: "counted", optional: true } });
const settlementPlaces = placesOf("settle", { [objectsPlace]: { member: "objects", optional: true } });

function placesOf(record: "intent" | "settle", more: Readonly<Record<number, Place>>): readonly Place[] {
  const places: Record<number, Place> = { ...more };
  const rows: readonly LedgerRow[] = ledgerTable;
  for (const { member, absent, journal } of rows) {
    const place = journal[record];
    if (place !== undefined) places[place] = { member, optional: absent !== undefined };
  }
  return Array.from({ length: Object.keys(places).length }, (_, place) => {
    const known = places[place];
    if (known === undefined) throw new Error(`No member stands at place ${place} of the journal's ${record} records.`);
    return known;
  });
}

function membersOf(places: readonly Place[], row: JournalRow): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  // The thread of the drain reads two of them for each call: no pairs are made on the way.
  for (let place = 0; place < places.length; place++) {
    const { member, optional } = places[place] as Place;
    // A file of the version before lacks the newest members.
    const written = row[place] ?? null;
    if (written === null && optional) continue;
    value[member] = member === "usage" ? toUsage(written as readonly number[]) : written;
  }
  return value;
}

/** Written out, because members that are looked up by name cost each call half as much again. The places are the table's. */
function intentRow(intent: Intent): JournalRow {
  return [
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
    intent.startedAfterMs,
    intent.counted ?? null,
    intent.operation ?? null,
    intent.personId ?? null,
  ];
}

function toIntent(row: JournalRow): Intent {
  return membersOf(intentPlaces, row) as unknown as Intent;
}

function settlementRow(settlement: Settlement): JournalRow {
  return [
    settlement.attemptId,
    settlement.endedAt,
    settlement.outcome,
    settlement.httpStatus,
    settlement.errorCode,
    usageRow(settlement.usage),
    settlement.usageSource,
    settlement.rawUsage,
    settlement.costNanoUsd,
    settlement.totalMs,
    settlement.firstByteMs,
    settlement.firstTokenMs,
    settlement.upstreamMs,
    settlement.overheadMs,
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
  ];
}

function toSettlement(row: JournalRow): Settlement {
  return membersOf(settlementPlaces, row) as unknown as Settlement;
}

function toCheckpoint(row: CheckpointRow): Checkpoint {
  return {
    attemptId: row[0],
    at: row[1],
    usage: toUsage(row[2]),
    usageSource: row[3],
    firstByteMs: row[4],
    firstTokenMs: row[5],
    upstreamId: row[6],
    ...(row[7] == null ? {} : { objects: row[7] }),
    priceVersion: row[8],
    ...(row[9] ? { pending: true } : {}),
  };
}
