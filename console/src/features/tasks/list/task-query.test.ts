import { expect, test } from "bun:test";
import { taskQueryOf } from "./task-query.ts";

test("filters in the URL are applied, and invalid values are ignored", () => {
  expect(taskQueryOf({ status: "failed", model: "seedance", key: "key_1", view: "list" })).toEqual({
    status: "failed",
    model: "seedance",
    key: "key_1",
  });
  expect(taskQueryOf({ status: "odd", model: "" })).toEqual({});
});
