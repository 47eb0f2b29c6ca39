import { expect, test } from "bun:test";
import { readMultipartType } from "./content-type.ts";

const wanted = "Send `multipart/form-data`.";

test.each([
  ["multipart/form-data; boundary=abc", "abc", "multipart/form-data; boundary=abc"],
  ['Multipart/Form-Data;boundary="a b:c"', "a b:c", 'multipart/form-data; boundary="a b:c"'],
  ['multipart/form-data; charset=utf-8; boundary="abc";', "abc", "multipart/form-data; boundary=abc"],
  [
    `multipart/form-data; boundary=${"x".repeat(70)}`,
    "x".repeat(70),
    `multipart/form-data; boundary=${"x".repeat(70)}`,
  ],
])("reads the boundary of %s as %s", (header, boundary, contentType) => {
  expect(readMultipartType(header, wanted)).toEqual({ boundary, contentType });
});

test.each([
  "multipart/form-data",
  "multipart/form-data; boundary=",
  'multipart/form-data; boundary=""',
  'multipart/form-data; boundary="a "',
  "multipart/form-data; boundary=a; boundary=b",
  "multipart/form-data; boundary=a b",
  'multipart/form-data; boundary="a\\b"',
  "multipart/form-data; boundary=ä",
  `multipart/form-data; boundary=${"x".repeat(71)}`,
])("rejects %s as ambiguous", (header) => {
  expect(() => readMultipartType(header, wanted)).toThrow("no valid boundary");
});

test.each([null, "application/json", "multipart/mixed; boundary=a", "multipart/form-datax; boundary=a"])(
  "returns null for %p, which is not a form",
  (header) => {
    expect(() => readMultipartType(header, wanted)).toThrow("multipart/form-data");
  },
);
