import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { personalDataTypes } from "@sluice/contract/words";
import { createDetector } from "./index.ts";

const credentials = createDetector({ kind: "credentials" });
const personalData = createDetector({ kind: "personal_data", types: personalDataTypes });

/** The same bytes in every run. */
function* randomBytes(seed: string): Generator<Buffer, never> {
  for (let count = 0; ; count++) yield createHash("sha256").update(`${seed} ${count}`).digest();
}

function lines(seed: string, count: number, line: (bytes: Buffer) => string): string {
  const bytes = randomBytes(seed);
  return Array.from({ length: count }, () => line(bytes.next().value)).join("\n");
}

const decimal = (bytes: Buffer, length: number): string =>
  BigInt(`0x${bytes.toString("hex")}`)
    .toString()
    .slice(-length)
    .replace(/^0/, "7");

const corpus: Readonly<Record<string, string>> = {
  hashes: lines("hash", 3_000, (bytes) => `commit ${bytes.toString("hex").slice(0, 40)} ${bytes.toString("hex")}`),
  UUIDs: lines("uuid", 3_000, (bytes) =>
    bytes.toString("hex").replace(/(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5"),
  ),
  base64: lines("base64", 3_000, (bytes) => Buffer.concat([bytes, bytes.subarray(3, 19)]).toString("base64")),
  "base64 for URLs": lines("url", 3_000, (bytes) => bytes.toString("base64url")),
  "integrity sums": lines(
    "lock",
    2_000,
    (bytes) => `"integrity": "sha512-${Buffer.concat([bytes, bytes]).toString("base64")}",`,
  ),
  prices: lines(
    "price",
    2_000,
    (bytes) => `$${decimal(bytes, 4)}.${decimal(bytes, 2)} or 1,${decimal(bytes, 3)},000.00 €`,
  ),
  versions: lines(
    "version",
    2_000,
    (bytes) => `pkg@${bytes[0]}.${bytes[1]}.${bytes[2]}-rc.${bytes[3]} v${bytes[4]}.${bytes[5]}`,
  ),
  timestamps: lines(
    "time",
    2_000,
    (bytes) => `${new Date(bytes.readUInt32BE() * 1000).toISOString()} ${1.6e12 + bytes.readUInt32BE() * 20}`,
  ),
  "dates and times": lines(
    "date",
    2_000,
    (bytes) => `2026-0${1 + ((bytes[0] ?? 0) % 9)}-1${(bytes[1] ?? 0) % 10} 12:34:56.${decimal(bytes, 6)}`,
  ),
  decimals: lines(
    "decimal",
    2_000,
    (bytes) => `${(bytes.readUInt32BE() / 2 ** 32).toString()}, ${bytes.readDoubleBE()}`,
  ),
  "tables of numbers": lines("table", 2_000, (bytes) => [...bytes].join(" ")),
  "hex dumps": lines(
    "dump",
    2_000,
    (bytes) => `${bytes.toString("hex").slice(0, 8)}: ${bytes.toString("hex").replace(/(.{4})/g, "$1 ")}`,
  ),
  identifiers: lines(
    "id",
    2_000,
    (bytes) => `user_${bytes.toString("hex").slice(0, 12)} req-${decimal(bytes, 9)} #${decimal(bytes, 6)}`,
  ),
};

test.each(Object.keys(corpus))("finds no credentials and no personal data in %s", (name) => {
  expect(credentials.find(corpus[name] ?? "")).toEqual([]);
  expect(personalData.find(corpus[name] ?? "")).toEqual([]);
});

describe("bare numbers", () => {
  test.each([
    [7, 0],
    [8, 0],
    [9, 0],
    [10, 0],
    [11, 100],
    [12, 0],
    [13, 1],
    [14, 10],
    [15, 5],
    [16, 47],
    [17, 5],
    [18, 2],
    [19, 4],
  ])("of 2,000 numbers with %d digits, at most %d are found", (length, most) => {
    const numbers = lines(`number ${length}`, 2_000, (bytes) => `id ${decimal(bytes, length)};`);
    expect(personalData.find(numbers).length).toBeLessThanOrEqual(most);
    expect(credentials.find(numbers)).toEqual([]);
  });
});

test("finds no credentials and no numbers of people in this gateway's source", () => {
  const root = join(import.meta.dir, "..", "..");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.startsWith("guardrails"),
  );
  expect(files.length).toBeGreaterThan(500);
  const numbers = createDetector({
    kind: "personal_data",
    types: personalDataTypes.filter((type) => type !== "email" && type !== "ip_address"),
  });
  const found = files.flatMap((name) => {
    const text = readFileSync(join(root, name), "utf8");
    return [...credentials.find(text), ...numbers.find(text)].map(
      ({ start, end }) => `${name}: ${text.slice(start, end)}`,
    );
  });
  expect(found).toEqual([]);
});
