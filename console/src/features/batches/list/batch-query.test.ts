import { expect, test } from "bun:test";
import { batchQueryOf } from "./batch-query.ts";

test("filters in the URL are applied, and invalid values are ignored", () => {
  expect(batchQueryOf({ state: "open", model: "gpt", key: "key_1", person: "u1" })).toEqual({
    ...{ state: "open", model: "gpt", key: "key_1", person: "u1" },
  });
  expect(batchQueryOf({ state: "odd", model: "" })).toEqual({});
});
