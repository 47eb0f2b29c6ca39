import { describe, expect, test } from "bun:test";
import { type PersonalDataType, personalDataTypes } from "@sluice/contract/words";
import type { LocatingCheck } from "#core/index.ts";
import { writers } from "../../../test/guardrails/sample-texts.ts";
import { createDetector, filterOf } from "./index.ts";

const check: LocatingCheck = { kind: "personal_data", types: personalDataTypes };
const detector = createDetector(check);
const filter = filterOf([check]);
/** The filter must not exclude a text with findings, however it is escaped. */
const found = (text: string): readonly string[] => {
  const findings = detector.find(text).map(({ start, end, type }) => `${type} ${text.slice(start, end)}`);
  for (const write of findings.length === 0 ? [] : writers) {
    const bytes = Buffer.from(write(text));
    expect(filter?.(bytes, 0, bytes.length, 1)).toBe(true);
  }
  return findings;
};

/** Numbers from the documents of their issuers, or made up with the right checksum. */
const values: readonly (readonly [PersonalDataType, string])[] = [
  ["email", "jane.doe+x@example.co.uk"],
  ["email", "Jürgen@example.com"],
  ["phone", "+49 (0)30 1234-5678"],
  ["phone", "+1 415 555 2671"],
  ["phone", "+44 20 7946 0958"],
  ["phone", "+8613800138000"],
  ["card", "4111 1111 1111 1111"],
  ["card", "5555555555554444"],
  ["card", "3782-822463-10005"],
  ["card", "6205500000000000004"],
  ["iban", "DE89 3704 0044 0532 0130 00"],
  ["iban", "GB82WEST12345698765432"],
  ["iban", "NO93 8601 1117 947"],
  ["ip_address", "192.168.10.20"],
  ["ip_address", "2001:db8:85a3::8a2e:370:7334"],
  ["us_ssn", "123-45-6789"],
  ["uk_nino", "AB 12 34 56 C"],
  ["fr_nir", "2 55 08 14 168 025 38"],
  ["fr_nir", "184127645108946"],
  ["es_nif", "12345678Z"],
  ["es_nif", "X1234567L"],
  ["it_fiscal_code", "RSSMRA85T10A562S"],
  ["se_personnummer", "850709-9805"],
  ["cn_resident_id", "11010519491231002X"],
  ["cn_mobile", "13800138000"],
  ["cn_mobile", "138-0013-8000"],
];

test.each(values)("finds %s in prose, in Chinese, in JSON and at the end of a sentence: %s", (type, value) => {
  for (const text of [
    value,
    `It is ${value}.`,
    `号码${value}。`,
    `{"value":"${value}"}`,
    `a, ${value}, b`,
    `(${value})`,
  ]) {
    expect(found(text)).toEqual([`${type} ${value}`]);
  }
});

test.each([
  ["phone", "phone: ", "030/123 45 67"],
  ["phone", "call me at ", "(555) 123-4567"],
  ["phone", "电话：", "010-12345678"],
  ["us_ssn", "SSN ", "078051120"],
  ["uk_nhs", "NHS number ", "943 476 5919"],
  ["de_tax_id", "Steuer-ID: ", "86095742719"],
  ["nl_bsn", "BSN ", "111222333"],
  ["pl_pesel", "PESEL: ", "44051401359"],
  ["se_personnummer", "personnummer ", "198507099805"],
])("finds %s only after its context word: %s%s", (type, context, value) => {
  expect(found(context + value)).toEqual([`${type} ${value}`]);
  expect(found(`value ${value}`)).toEqual([]);
});

test("full-width digits and invisible characters do not hide a number", () => {
  for (const written of [
    "４１１１１１１１１１１１１１１１",
    "4111\u200b1111\u20601111\ufeff1111",
    "4111 1111 1111 １１１１",
  ]) {
    expect(found(`卡号${written}。`)).toEqual([`card ${written}`]);
  }
  expect(found("写信给jane＠example.com吧")).toEqual(["email jane＠example.com"]);
});

test("finds a value before other numbers", () => {
  expect(found("4111 1111 1111 1111 123 12/27")).toEqual(["card 4111 1111 1111 1111"]);
  expect(found("+1 415 555 2671 2024-01-01")).toEqual(["phone +1 415 555 2671"]);
});

test("finds only the types of its policy", () => {
  const cards = createDetector({ kind: "personal_data", types: ["card"] });
  expect(cards.find("jane@example.com 123-45-6789 4111111111111111")).toEqual([{ start: 29, end: 45, type: "card" }]);
});

test.each([
  "4111 1111 1111 1112",
  "1234567890123456",
  "x4111111111111111",
  "0.4111111111111111",
  "DE89 3704 0044 0532 0130 01",
  "000-12-3456 and 666-12-3456",
  "110105194902310021",
  "12345678A",
  "version 1.2.3.4",
  "127.0.0.1 and 0.0.0.0 and 256.1.1.1",
  "std::cout << a::b; Abc::def",
  "git@github.com:owner/repository.git",
  "https://user:pa55word@example.com/",
  "@types/node@22.1.0",
  "user@localhost",
  "2024-01-15T10:30:00.000+01:00",
  "+1000000000 lines",
  "order 1234567890, invoice 98765432",
  "phone model from 2024-01-15",
])("does not find what only looks similar: %s", (text) => {
  expect(found(text)).toEqual([]);
});

describe("a stream", () => {
  test.each([
    ["Hello world", 6],
    ["Hello world ", 12],
    ["The card is 4111 1111 ", 12],
    ["写信给jane", 3],
    ["今天天气很好", 6],
    ["I have 3 apples", 9],
    ["Hello jane@exam", 6],
  ])("holds back the last word or number: %s", (text, pending) => {
    expect(detector.pendingFrom(text)).toBe(pending);
  });
});
