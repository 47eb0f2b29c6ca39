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
])("%s names the boundary %s", (header, boundary, contentType) => {
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
])("%s names no boundary that all readers agree on, and is refused", (header) => {
  expect(() => readMultipartType(header, wanted)).toThrow("no valid boundary");
});

test.each([null, "application/json", "multipart/mixed; boundary=a", "multipart/form-datax; boundary=a"])(
  "%p is no form",
  (header) => {
    expect(() => readMultipartType(header, wanted)).toThrow("multipart/form-data");
  },
);
