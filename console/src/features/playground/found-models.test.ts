import { expect, test } from "bun:test";
import { foundModels } from "./found-models.ts";

const thousand = Array.from({ length: 1_000 }, (_, at) => `acme/gpt-5-turbo-${at}`);

test("an exact match comes first, then prefixes, then matches of a provider", () => {
  const models = ["old-gpt-5", "acme/gpt-5", "gpt-5-mini", "gpt-5"];
  expect(foundModels(models, "GPT-5")).toEqual(["gpt-5", "gpt-5-mini", "acme/gpt-5", "old-gpt-5"]);
  expect(foundModels([...thousand, "gpt-5"], "gpt-5")[0]).toBe("gpt-5");
});

test("every word that is typed must be in the name, in any order", () => {
  expect(foundModels(["acme/gpt-5", "acme/o3", "zen/gpt-5"], "gpt acme")).toEqual(["acme/gpt-5"]);
});

test("an empty search returns all models in the gateway's order", () => {
  expect(foundModels(thousand, " ")).toBe(thousand);
  expect(foundModels(thousand, "no such")).toEqual([]);
});
