import { expect, test } from "bun:test";
import { shortNames } from "./short-names.ts";

test("names that begin alike are told apart by what follows", () => {
  expect(shortNames(["acme-research/experiment-0001-mini", "acme-research/experiment-0002-mini", "gpt-5"])).toEqual([
    "…0001-mini",
    "…0002-mini",
    "gpt-5",
  ]);
  expect(shortNames(["acme/experiment-one-mini", "globex/experiment-one"])).toEqual([
    "acme/experiment-one-mini",
    "globex/experiment-one",
  ]);
  expect(shortNames(["a-name-that-is-long-alone", "short"])).toEqual(["a-name-that-is-long-alone", "short"]);
  expect(shortNames([])).toEqual([]);
});
