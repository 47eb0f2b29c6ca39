import { expect, test } from "bun:test";
import { sampleCall } from "./sample-call.ts";
import { bodyOf, emptyDraft, faultsOf } from "./token-draft.ts";

const now = 1_800_000_000_000;

test("a token is for everything or for one workspace with a role, never for both, and ends unless that is chosen", () => {
  const named = { ...emptyDraft, name: " ci " };
  expect(faultsOf(emptyDraft)).toEqual({ name: "Enter a name.", workspace: "Choose a scope." });
  expect(faultsOf(named)).toEqual({ workspace: "Choose a scope." });
  expect(faultsOf({ ...named, administrator: true })).toEqual({});
  expect(faultsOf({ ...named, workspace: "ws_1" })).toEqual({ role: "Choose a role." });
  expect(bodyOf({ ...named, workspace: "ws_1", role: "viewer" }, now)).toEqual({
    name: "ci",
    workspace: "ws_1",
    role: "viewer",
    expires_at: now + 90 * 86_400_000,
  });
  expect(bodyOf({ ...named, administrator: true, life: "never" }, now)).toEqual({ name: "ci", administrator: true });
});

test("the sample call names the token's variable and never a token", () => {
  expect(sampleCall("https://gateway.example/", null)).toBe(
    `curl 'https://gateway.example/api/workspaces/-/keys' \\\n  -H "Authorization: Bearer $SLUICE_ADMIN_TOKEN"`,
  );
  expect(sampleCall("https://gateway.example", "acme")).toContain("/api/workspaces/acme/keys");
});
