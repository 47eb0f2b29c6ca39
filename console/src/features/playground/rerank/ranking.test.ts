import { expect, test } from "bun:test";
import { rankedIn, rerankBody } from "./ranking.ts";

test("documents are sorted by score", () => {
  const results = [{ index: 0, relevance_score: 0.1 }, null, { index: 1 }, { index: 2, relevance_score: 0.9 }];
  expect(rankedIn({ results }, ["a", "b", "c"])).toEqual([
    { document: "c", place: 3, score: 0.9 },
    { document: "a", place: 1, score: 0.1 },
  ]);
  expect(rankedIn(null, [])).toEqual([]);
});

test("the number of results is only sent if it was entered", () => {
  expect(rerankBody("m", " q ", ["a"], null)).toEqual({ model: "m", query: "q", documents: ["a"] });
  expect(rerankBody("m", "q", ["a"], 1)).toMatchObject({ top_n: 1 });
});
