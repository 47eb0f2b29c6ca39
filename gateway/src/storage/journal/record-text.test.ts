import { expect, test } from "bun:test";
import { seededChance } from "../../../test/simulation/seeded-chance.ts";
import { idsIn, inIntent, inSettlement, LedgerRecord, RecordHeads, RecordReader } from "./record-text.ts";

const chance = seededChance(7);
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(chance.unit() * items.length)] as Item;
const text = () =>
  pick(["", "gpt-5", 'a "quoted" one', "back\\slash\\", '\\"', "],[", '{"a":[1,"]"]}', "null", "é\n\u{1f600}", "a, b"]);
const id = () => `id_${Math.floor(chance.unit() * 4)}`;
const count = () => pick([0, 1, 12_345, 1_796_070_000_000, -5_000, 0.25, 1e21, Number.MAX_SAFE_INTEGER]);
const orNull = (value: unknown) => pick([value, null]);

function intent(): unknown[] {
  const ids = [id(), id(), count(), id(), id(), id()];
  const texts = Array.from({ length: 8 }, text);
  const call = [pick([true, false]), count(), orNull(text()), count(), count(), text()];
  const tags = pick([{}, { team: "ads" }, { [text()]: text(), "}": "{[" }]);
  return [
    ...ids,
    ...texts,
    ...call,
    tags,
    ...Array.from({ length: Math.floor(chance.unit() * 12) }, () => orNull(text())),
  ];
}

function settlement(attemptId: unknown): unknown[] {
  const usage = pick([[], [0, 0, 7], [2_946, 2_000, 0, 0, 120]]);
  const first = [
    attemptId,
    count(),
    pick(["succeeded", "rejected"]),
    200,
    orNull(text()),
    usage,
    "upstream",
    orNull(text()),
  ];
  const times = [count(), count(), null, null, count(), count(), orNull(text()), null, null, [{ id: text() }]];
  return [...first, ...times.slice(0, Math.floor(chance.unit() * 11)), ...pick([[], [orNull(text()), "vendor"]])];
}

/** As PostgreSQL writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, own]) => `${JSON.stringify(name)}: ${spaced(own)}`)
    .join(", ")}}`;
}

test.each([
  ["SQLite", JSON.stringify],
  ["PostgreSQL", spaced],
] as const)("members of a record that %s stores are the same as in the parsed record", (_, write) => {
  const heads = new RecordHeads();
  for (let number = 0; number < 3_000; number++) {
    const begun = intent();
    const json = write([begun, settlement(begun[0]), ...pick([[], [3], [0]])]);
    const record = new LedgerRecord(json, heads);
    const [intentRow, settlementRow, calls = 1] = JSON.parse(json) as [unknown[], unknown[], number?];
    const parsed = { intent: intentRow, settlement: settlementRow, calls };
    expect(record.calls).toBe(calls);
    expect(record.numbers(inSettlement.usage)).toEqual(settlementRow[5] as number[]);
    for (const [members, row] of [
      [inIntent, parsed.intent],
      [inSettlement, parsed.settlement],
    ] as const) {
      for (const member of Object.values(members)) {
        const place = members === inIntent ? member : member - inSettlement.attemptId;
        expectMember(record, member, row[place]);
      }
    }
    expectRead(json, heads, parsed);
  }
});

const hashes = new Map<unknown, number>();

/** The members that a reader meets, in their order. */
function expectRead(
  json: string,
  heads: RecordHeads,
  { intent, settlement, calls }: { intent: readonly unknown[]; settlement: readonly unknown[]; calls: number },
) {
  const reader = new RecordReader();
  reader.open(json);
  expect(idsIn(json)).toEqual(intent.slice(0, 2) as [string, string]);
  reader.skip();
  const hash = reader.idHash();
  expect(hash).toBe(hashes.get(intent[1]) ?? hash);
  hashes.set(intent[1], hash);
  expect(reader.number()).toBe(intent[2] as number);
  const head = reader.head(heads);
  for (let place = 3; place < 14; place++) expect(head.text(place)).toBe(intent[place] as string);
  expect([reader.isTrue(), reader.number()]).toEqual(intent.slice(14, 16) as [boolean, number]);
  expect(reader.isText()).toBe(typeof intent[16] === "string");
  const price = reader.place();
  expect(reader.number()).toBe(intent[17] as number);
  reader.toSettlement();
  expect([reader.number(), reader.begins("rejected")]).toEqual([settlement[1] as number, settlement[2] === "rejected"]);
  reader.skip();
  reader.skip();
  const usage = settlement[5] as readonly number[];
  const factors = [1, 0, 1, 1];
  const sum = usage.reduce((total, amount, index) => total + amount * (factors[index] ?? 0), 0);
  expect(reader.sum(factors)).toBe(sum);
  reader.skip();
  reader.skip();
  for (let place = 8; place < 24; place++) {
    expect([place, reader.isText()]).toEqual([place, typeof settlement[place] === "string"]);
    reader.skip();
  }
  expect(reader.calls()).toBe(calls);
  const last = calls === 1 && !/\d\]$/.test(json) ? settlement.at(-1) : null;
  // Ids are not empty and have no escapes.
  if (/^[^"\\]+$/.test(String(intent[16]))) {
    expect(reader.endsAs(price)).toBe(intent[16] !== null && last === intent[16]);
  }
}

function expectMember(record: LedgerRecord, member: number, value: unknown): void {
  if (typeof value === "string") {
    expect(record.text(member)).toBe(value);
    expect(record.textOrNull(member)).toBe(value);
    // Empty for members of the head.
    const isWhole = record.value(member) !== "";
    if (isWhole)
      expect([record.holds(member, record.value(member)), record.holds(member, '"other"')]).toEqual([true, false]);
  } else if (typeof value === "number") {
    expect(record.number(member)).toBe(value);
    expect(record.numberOrNull(member)).toBe(value);
  } else if (typeof value === "boolean") expect(JSON.parse(record.value(member))).toBe(value);
  else if (value === null || value === undefined) {
    expect(record.isNull(member)).toBe(true);
    expect(record.textOrNull(member)).toBeNull();
    expect(record.numberOrNull(member)).toBeNull();
  } else expect(JSON.parse(record.value(member))).toEqual(value);
}

test("rejects a record that is cut off", () => {
  const begun = intent();
  const long = [...settlement(begun[0]), [{ id: "resp_1" }]];
  const json = JSON.stringify([begun, long]);
  for (const end of [json.length - 2, json.length - 6, json.indexOf("[", 2) + 10]) {
    expect(() => new LedgerRecord(json.slice(0, end), new RecordHeads())).toThrow();
    expect(() => {
      const reader = new RecordReader();
      reader.open(json.slice(0, end));
      reader.toSettlement();
      reader.calls();
    }).toThrow();
  }
});
