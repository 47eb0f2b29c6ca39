import { expect, test } from "bun:test";
import { sizeOf, wholeOf, wholeOfSpent } from "./body-bytes.ts";

const text = "one body in some pieces";
const inPieces = () => ["one ", "body", "", " in some ", "pieces"].map((piece) => new TextEncoder().encode(piece));
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("pieces are put together in their order", () => {
  expect(decode(wholeOf(inPieces()))).toBe(text);
  expect(decode(wholeOfSpent(inPieces()))).toBe(text);
  expect(sizeOf(inPieces())).toBe(text.length);
  expect(decode(wholeOf([]))).toBe("");
});

test("one piece is the body itself", () => {
  const only = new Uint8Array(3);
  expect(wholeOf(only)).toBe(only);
  expect(wholeOfSpent([only])).toBe(only);
});

test("releases the memory of spent pieces only", () => {
  const spent = inPieces();
  wholeOfSpent(spent);
  expect(spent.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0, 0, 0, 0]);
  const kept = inPieces();
  wholeOf(kept);
  expect(sizeOf(kept)).toBe(text.length);
});

test("spent pieces that share their memory are all copied first", () => {
  const shared = new TextEncoder().encode(text);
  expect(decode(wholeOfSpent([shared.subarray(0, 4), shared.subarray(4, 9), shared.subarray(9)]))).toBe(text);
});
