import { expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { added } from "./priorities.ts";
import { type ServingDraft, servingBlocked, servingBody, servingFaults } from "./serving-draft.ts";

const stored: ServingDraft = {
  priorities: added([], "main", "m"),
  fallbacks: ["b"],
  type: "chat",
  ownedBy: "openai",
  outputMax: 8_000,
  contextWindow: null,
};

test("unchanged fields are not sent", () => {
  expect(servingBody(stored, stored)).toEqual({});
  expect(servingBody({ ...stored, ownedBy: " openai " }, stored)).toEqual({});
});

test("each change is sent alone, deployments as the whole list", () => {
  expect(servingBody({ ...stored, fallbacks: [] }, stored)).toEqual({ fallbacks: [] });
  expect(servingBody({ ...stored, type: "image", ownedBy: "us" }, stored)).toEqual({ type: "image", owned_by: "us" });
  expect(servingBody({ ...stored, outputMax: 64_000 }, stored)).toEqual({ max_output_tokens: 64_000 });
  expect(servingBody({ ...stored, outputMax: null }, stored)).toEqual({ max_output_tokens: null });
  expect(servingBody({ ...stored, contextWindow: 32_000 }, stored)).toEqual({ context_window: 32_000 });
  const body = servingBody({ ...stored, priorities: added(stored.priorities, "spare", "m2") }, stored);
  expect(body.deployments?.map((each) => [each.provider, each.priority])).toEqual([
    ["main", 1],
    ["spare", 2],
  ]);
  expect(consoleRoutes["models.update"].body?.safeParse(body).success).toBe(true);
});

test("a model without a deployment cannot be saved", () => {
  expect(servingBlocked(stored)).toBeNull();
  expect(servingBlocked({ ...stored, priorities: [] })).toContain("one deployment");
  expect(servingFaults({ ...stored, ownedBy: " " })).toEqual({ owned_by: "Enter who owns the model." });
  expect(servingFaults(stored)).toEqual({});
});
