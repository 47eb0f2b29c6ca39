import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JournalRecord } from "#ports/index.ts";
import { checkpointOf, entryOf, intentOf, refusalOf, settlementOf } from "../../../test/ledger/history.ts";
import { JournalBuffer } from "./journal-file.ts";
import { salvage } from "./journal-reader.ts";
import {
  encodeCheckpoint,
  encodeIntent,
  encodeRefusal,
  encodeSettlement,
  isRecord,
  parseRecord,
  recordTypes,
} from "./journal-record.ts";

function append(buffer: JournalBuffer, record: JournalRecord): void {
  switch (record.type) {
    case "intent":
      return void buffer.append(recordTypes.intent, encodeIntent(record.value));
    case "checkpoint":
      return void buffer.append(recordTypes.checkpoint, encodeCheckpoint(record.value));
    case "settle":
      return void buffer.append(recordTypes.settle, encodeSettlement(record.value));
    case "refuse":
      return void buffer.append(recordTypes.refuse, encodeRefusal(record.value));
  }
}

function bytesOf(...records: JournalRecord[]): Buffer {
  const buffer = new JournalBuffer();
  for (const record of records) append(buffer, record);
  return Buffer.from(buffer.bytes.subarray(0, buffer.length));
}

const examples: readonly JournalRecord[] = [
  { type: "intent", value: intentOf(3) },
  { type: "checkpoint", value: checkpointOf(3, 64) },
  { type: "settle", value: settlementOf(3) },
  { type: "refuse", value: refusalOf(3) },
];

test("reads back every member of a record", () => {
  for (const record of examples) {
    const bytes = bytesOf(record);
    expect(isRecord(bytes, 0, bytes.length - 1)).toBe(true);
    expect(parseRecord(bytes, 0, bytes.length - 1)).toEqual(record);
  }
});

test("stores the operation of a pass-through call in its intent", () => {
  const passed = intentOf(4, { operation: "GET /files/{id}" });
  const bytes = bytesOf({ type: "intent", value: passed });
  expect(parseRecord(bytes, 0, bytes.length - 1)).toEqual({ type: "intent", value: passed });
});

test("stores the person in the intent; older intents have none", () => {
  const theirs = intentOf(4, { personId: "usr_ada" });
  const bytes = bytesOf({ type: "intent", value: theirs });
  expect(parseRecord(bytes, 0, bytes.length - 1)).toEqual({ type: "intent", value: theirs });
  const older = new JournalBuffer();
  older.append(recordTypes.intent, JSON.stringify(JSON.parse(encodeIntent(theirs)).slice(0, 24)));
  const line = Buffer.from(older.bytes.subarray(0, older.length));
  expect(parseRecord(line, 0, line.length - 1)).toEqual({ type: "intent", value: intentOf(4) });
});

test("stores counted usage in the intent; older intents and usages have none", () => {
  const counted = { audioSeconds: 8, chargedRequests: 1 };
  const bytes = bytesOf({ type: "intent", value: intentOf(4, { counted }) });
  expect(parseRecord(bytes, 0, bytes.length - 1)).toEqual({ type: "intent", value: intentOf(4, { counted }) });
  const older = new JournalBuffer();
  older.append(recordTypes.intent, JSON.stringify(JSON.parse(encodeIntent(intentOf(4, { counted }))).slice(0, 22)));
  const line = Buffer.from(older.bytes.subarray(0, older.length));
  expect(parseRecord(line, 0, line.length - 1)).toEqual({ type: "intent", value: intentOf(4) });
  const settled = JSON.parse(encodeSettlement(settlementOf(4)));
  settled[5] = settled[5].slice(0, 15);
  const before = new JournalBuffer();
  before.append(recordTypes.settle, JSON.stringify(settled));
  const short = Buffer.from(before.bytes.subarray(0, before.length));
  expect(parseRecord(short, 0, short.length - 1)).toEqual({ type: "settle", value: settlementOf(4) });
});

test("stores each member at its index", () => {
  const intent = JSON.parse(
    encodeIntent(intentOf(1, { operation: "GET /files", personId: "usr_ada", counted: { audioSeconds: 8 } })),
  );
  const { usage, ...settlement } = settlementOf(1);
  const settled = JSON.parse(encodeSettlement({ ...settlement, usage, warnings: ["w"] }));
  const entry: Readonly<Record<string, unknown>> = {
    ...intentOf(1),
    ...settlement,
    operation: "GET /files",
    personId: "usr_ada",
  };
  // Durations are whole microseconds.
  const members = (names: string) =>
    names.split(" ").map((name) => (name.endsWith("Ms") ? Number(entry[name]) * 1_000 : entry[name]));
  expect(intent.slice(0, 25).toSpliced(22, 1)).toEqual(
    members(
      "attemptId requestId at workspaceId groupId keyId model requestedModel provider deployment upstreamModel endpoint " +
        "callerDialect upstreamDialect stream retryIndex priceVersion inputEstimate reservedNanoUsd userAgent tags " +
        "startedAfterMs operation personId",
    ),
  );
  expect(intent[22]).toEqual({ audioSeconds: 8 });
  expect(settled.slice(0, 17).toSpliced(5, 1)).toEqual([
    ...members(
      "attemptId endedAt outcome httpStatus errorCode usageSource rawUsage costNanoUsd totalMs firstByteMs firstTokenMs " +
        "upstreamMs overheadMs upstreamId upstreamStatus",
    ),
    ["w"],
  ]);
  const counts = Object.values(usage);
  expect(settled[5]).toEqual(counts.slice(0, counts.findLastIndex((count) => count > 0) + 1));
});

test("writes any text of a caller as one line and reads it back", () => {
  const text = fc.string({ unit: "binary", maxLength: 300 });
  fc.assert(
    fc.property(text, text, fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true }), (model, agent, tags) => {
      const intent = intentOf(1, { requestedModel: model, userAgent: agent, tags });
      const bytes = bytesOf({ type: "intent", value: intent });
      expect(bytes.indexOf(0x0a)).toBe(bytes.length - 1);
      expect(parseRecord(bytes, 0, bytes.length - 1)).toEqual({ type: "intent", value: intent });
    }),
    { numRuns: 300 },
  );
});

test("detects any single wrong bit in a record", () => {
  const bytes = bytesOf({ type: "settle", value: settlementOf(1) });
  for (let bit = 0; bit < (bytes.length - 1) * 8; bit++) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(isRecord(flipped, 0, flipped.length - 1)).toBe(false);
  }
});

test("recovers two records after the line feed between them was lost", () => {
  const both = bytesOf({ type: "intent", value: intentOf(1) }, { type: "settle", value: settlementOf(1) });
  both[both.indexOf(0x0a)] = 0x4a;
  const saved = [...salvage(both, 0, both.length - 1)];
  expect(saved.map((record) => record.type)).toEqual(["intent", "settle"]);
});

test("keeps an entry below one kilobyte", () => {
  const entry = entryOf(1);
  const bytes = bytesOf({ type: "intent", value: entry }, { type: "settle", value: entry });
  expect(bytes.length).toBeLessThan(1_024);
});

test("reads a record of the previous version, which lacks the newest members", () => {
  const { servedModel: _, ...known } = { ...settlementOf(3), servedModel: "gpt-5-mini" };
  const newest = JSON.parse(encodeSettlement({ ...known, servedModel: "gpt-5-mini" }));
  const buffer = new JournalBuffer();
  buffer.append(recordTypes.settle, JSON.stringify(newest.slice(0, -1)));
  const bytes = Buffer.from(buffer.bytes.subarray(0, buffer.length));
  expect(parseRecord(bytes, 0, bytes.length - 1)).toEqual({ type: "settle", value: known });
});
