import { expect, test } from "bun:test";
import { linesOf, similarity, vectorsIn } from "./vectors.ts";

test("vectors are sorted by the index of their input", () => {
  const data = [
    { index: 1, embedding: [0, 1] },
    { index: 0, embedding: [1, 0] },
    { index: 2, embedding: "AAAA" },
  ];
  expect(vectorsIn({ data })).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(vectorsIn({})).toEqual([]);
  expect(linesOf(" a \n\n b")).toEqual(["a", "b"]);
});

test("similarity is one for the same direction, and null if it is undefined", () => {
  expect(similarity([1, 2], [2, 4])).toBeCloseTo(1);
  expect(similarity([1, 0], [0, 1])).toBe(0);
  expect(similarity([1, 0], [0, 0])).toBeNull();
  expect(similarity([1], [1, 0])).toBeNull();
});
