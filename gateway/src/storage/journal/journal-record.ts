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
 * i (intent)     the members of Intent in the order of `encodeIntent`
 * c (checkpoint) the members of Checkpoint, usage as an array
 * s (settle)     the members of Settlement, usage as an array
 * r (refuse)     [intent, settle, calls] of a call that was refused before any attempt, or of several alike
 *
 * New members are added at the end of an array, so that files of an older version stay readable.
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
  ]);
}

export function encodeSettlement(settlement: Settlement): string {
  return JSON.stringify(settlementRow(settlement));
}

export function encodeRefusal(entry: LedgerEntry): string {
  const row = [intentRow(entry), settlementRow(entry)];
  return JSON.stringify(entry.calls === undefined ? row : [...row, entry.calls]);
}

export const recordLetters = { intent: 0x69, checkpoint: 0x63, settle: 0x73, refuse: 0x72 } as const;

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
  const row: unknown = JSON.parse(bytes.toString("utf8", start + recordHeadBytes, end));
  switch (letter) {
    case recordLetters.intent:
      return { type: "intent", value: toIntent(row as IntentRow) };
    case recordLetters.checkpoint:
      return { type: "checkpoint", value: toCheckpoint(row as CheckpointRow) };
    case recordLetters.settle:
      return { type: "settle", value: toSettlement(row as SettlementRow) };
    case recordLetters.refuse: {
      const [intent, settlement, calls] = row as [IntentRow, SettlementRow, number?];
      const repeated = calls === undefined ? {} : { calls };
      return { type: "refuse", value: { ...toIntent(intent), ...toSettlement(settlement), ...repeated } };
    }
    default:
      return null;
  }
}

const space = 0x20;

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

/*
 * The rows below are read as what was written: the CRC has vouched for the bytes, and only this file writes them.
 */
type IntentRow = ReturnType<typeof intentRow>;
type SettlementRow = ReturnType<typeof settlementRow>;
type CheckpointRow = readonly [
  string,
  number,
  readonly number[],
  Checkpoint["usageSource"],
  number | null,
  number | null,
  (string | null)?,
];

/** In the order of the table of classes, to which new ones are added at the end. */
function usageRow(usage: Usage): readonly number[] {
  return usageClasses.map((name) => usage[name]);
}

/** Files of a version that did not know the last classes say nothing of them. */
function toUsage(row: readonly number[]): Usage {
  const usage: { -readonly [Class in keyof Usage]: number } = { ...noUsage };
  for (const [index, name] of usageClasses.entries()) usage[name] = row[index] ?? 0;
  return usage;
}

function intentRow(intent: Intent) {
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
  ] as const;
}

function toIntent(row: IntentRow): Intent {
  return {
    attemptId: row[0],
    requestId: row[1],
    at: row[2],
    workspaceId: row[3],
    groupId: row[4],
    keyId: row[5],
    model: row[6],
    requestedModel: row[7],
    provider: row[8],
    deployment: row[9],
    upstreamModel: row[10],
    endpoint: row[11],
    callerDialect: row[12],
    upstreamDialect: row[13],
    stream: row[14],
    retryIndex: row[15],
    priceVersion: row[16],
    inputEstimate: row[17],
    reservedNanoUsd: row[18],
    userAgent: row[19],
    tags: row[20],
    // Not in files of a version that did not know it.
    startedAfterMs: row[21] ?? null,
    ...(row[22] == null ? {} : { counted: row[22] }),
    ...(row[23] == null ? {} : { operation: row[23] }),
  };
}

function toCheckpoint(row: CheckpointRow): Checkpoint {
  return {
    attemptId: row[0],
    at: row[1],
    usage: toUsage(row[2]),
    usageSource: row[3],
    firstByteMs: row[4],
    firstTokenMs: row[5],
    // Not in files of a version that did not know it.
    upstreamId: row[6] ?? null,
  };
}

function settlementRow(settlement: Settlement) {
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
  ] as const;
}

function toSettlement(row: SettlementRow): Settlement {
  return {
    attemptId: row[0],
    endedAt: row[1],
    outcome: row[2],
    httpStatus: row[3],
    errorCode: row[4],
    usage: toUsage(row[5]),
    usageSource: row[6],
    rawUsage: row[7],
    costNanoUsd: row[8],
    totalMs: row[9],
    firstByteMs: row[10],
    firstTokenMs: row[11],
    upstreamMs: row[12],
    overheadMs: row[13],
    // Not in files of a version that did not know it.
    upstreamId: row[14] ?? null,
    upstreamStatus: row[15] ?? null,
    ...(row[16] == null ? {} : { warnings: row[16] }),
  };
}
