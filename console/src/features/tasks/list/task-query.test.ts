import { expect, test } from "bun:test";
import { taskQueryOf } from "./task-query.ts";

test("the address narrows the list, and what it cannot mean is passed over", () => {
  expect(taskQueryOf({ status: "failed", model: "seedance", key: "key_1", view: "list" })).toEqual({
    status: "failed",
    model: "seedance",
    key: "key_1",
  });
  expect(taskQueryOf({ status: "odd", model: "" })).toEqual({});
});
