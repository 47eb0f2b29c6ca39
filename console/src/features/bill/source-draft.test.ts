import { expect, test } from "bun:test";
import type { ProviderBilling } from "@sluice/contract";
import { keepsKey, sourceBody, sourceDraftOf, sourceFaults } from "./source-draft.ts";

const stored: ProviderBilling = {
  ...{ kind: "openai", base_url: null, has_admin_key: true, lag_days: 3, tolerance_percent: null },
  account: { projects: ["proj_1"] },
};

test("proposes the usual source of a provider type, and a file for the others", () => {
  expect(["anthropic", "bedrock", "vllm"].map((kind) => sourceDraftOf(null, kind).kind)).toEqual([
    "anthropic",
    "cur",
    "csv",
  ]);
});

test("sends what is stored again, without the key", () => {
  const draft = sourceDraftOf(stored, "openai");
  expect(sourceBody(draft)).toEqual({ kind: "openai", account: { projects: ["proj_1"] }, lag_days: 3 });
  expect(sourceFaults(draft, stored)).toEqual({});
});

test("asks for the key again after a new kind or address, because the gateway removes it", () => {
  const draft = sourceDraftOf(stored, "openai");
  for (const changed of [
    { ...draft, kind: "anthropic" as const },
    { ...draft, baseUrl: "https://proxy.example" },
  ]) {
    expect(keepsKey(changed, stored)).toBe(false);
    expect(Object.keys(sourceFaults(changed, stored))).toEqual(["billing.admin_key"]);
    expect(sourceFaults({ ...changed, adminKey: { how: "set", text: "sk-admin" } }, stored)).toEqual({});
  }
});

test("leaves out what the kind does not use", () => {
  const draft = sourceDraftOf(stored, "openai");
  expect(sourceBody({ ...draft, kind: "anthropic", adminKey: { how: "set", text: " sk-ant " } })).toEqual({
    ...{ kind: "anthropic", admin_key: "sk-ant", lag_days: 3 },
  });
  expect(sourceBody({ ...draft, kind: "focus", tolerancePercent: 2 })).toEqual({ kind: "focus", tolerance_percent: 2 });
});
