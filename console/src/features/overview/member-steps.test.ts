import { expect, test } from "bun:test";
import { memberSteps } from "./member-steps.ts";

const done = (...given: Parameters<typeof memberSteps>) => memberSteps(...given).map((step) => step.done);

test("an invited member starts with a personal key, and is done once it was used", () => {
  expect(done([], true, "acme")).toEqual([false, false]);
  expect(done([{ state: "active", last_used_at: null }], true, "acme")).toEqual([true, false]);
  expect(done([{ state: "active", last_used_at: 1 }], true, "acme")).toEqual([true, true]);
  expect(done([{ state: "revoked", last_used_at: null }], true, "acme")).toEqual([false, false]);
});

test("a step links to the workspace; a viewer gets no step that they may not perform", () => {
  expect(memberSteps([], true, "acme").map((step) => step.action?.link.search)).toEqual([
    { workspace: "acme", create: "1" },
    { workspace: "acme" },
  ]);
  expect(memberSteps([], false, "acme").map((step) => step.action)).toEqual([null, null]);
});
