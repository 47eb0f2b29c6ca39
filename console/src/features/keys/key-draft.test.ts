import { expect, test } from "bun:test";
import type { ConsoleKey } from "@sluice/contract";
import { blockedBy, bodyOf, changesOf, draftOf, emptyDraft, faultsOf, leastLimits, tagsOf } from "./key-draft.ts";

const key: ConsoleKey = {
  id: "key_1",
  name: "ci",
  workspace: { id: "ws_1", slug: "acme" },
  group: { id: "grp_1", name: "default" },
  prefix: "sk-sluice-abcd",
  last_four: "wxyz",
  state: "active",
  models: ["gpt-*"],
  enforce_models: true,
  pass_through: [],
  allowed_ips: ["10.0.0.0/8"],
  enforce_allowed_ips: true,
  limits: { rpm: 60 },
  budget: { usd: 5, period: "month" },
  tags: { team: "payments" },
  capture: "headers",
  service: false,
  enabled: true,
  expires_at: 1_800_000_000_000,
  created_at: 1_795_000_000_000,
  created_by: null,
  owner: null,
  last_used_at: null,
  revoked_at: null,
  old_secret_until: null,
  managed_by: "console",
  set_by_admins: [],
};

test("an untouched form changes nothing", () => {
  expect(changesOf(draftOf(key), draftOf(key))).toEqual({});
});

test("sends only changed fields, so that a member's edit never contains fields reserved for admins", () => {
  const before = draftOf(key);
  expect(changesOf(before, { ...before, name: " ci 2 " })).toEqual({ name: "ci 2" });
  expect(changesOf(before, { ...before, models: null, allowedIps: [], budget: null, expiresAt: null })).toEqual({
    models: null,
    allowed_ips: null,
    budget: null,
    expires_at: null,
  });
  expect(changesOf(before, { ...before, tags: [] })).toEqual({ tags: {} });
  expect(changesOf(before, { ...before, passThrough: ["openai"] })).toEqual({ pass_through: ["openai"] });
  expect(changesOf(before, { ...before, enforceModels: false, enforceAllowedIps: false })).toEqual({
    enforce_models: false,
    enforce_allowed_ips: false,
  });
});

test("a new key is sent with its name and the selected options", () => {
  expect(bodyOf({ ...emptyDraft, name: "ci" })).toEqual({ name: "ci" });
  expect(bodyOf({ ...emptyDraft, name: "ci", models: [], limits: { rpm: 1 } })).toEqual({
    name: "ci",
    models: [],
    limits: { rpm: 1 },
  });
});

test("a tag is a name and a value, and the value may contain an equals sign", () => {
  expect(tagsOf(["team=payments", " query = a=b "])).toEqual({ team: "payments", query: "a=b" });
  for (const loose of ["loose", "=x"]) {
    const draft = { ...emptyDraft, name: "ci", tags: ["team=x", loose] };
    expect(faultsOf(draft).tags).toContain(loose);
    // The field shows the error, so the form's footer does not repeat it.
    expect(blockedBy(draft)).toBe("Check the marked fields.");
  }
  expect(blockedBy({ ...emptyDraft, name: "ci", tags: ["team="] })).toBeNull();
  expect(blockedBy({ ...emptyDraft, name: "  " })).not.toBeNull();
});

test("the lowest limit of each kind among the higher levels applies", () => {
  expect(leastLimits({ rpm: 600, tpm: 9 }, { rpm: 60 }, {})).toEqual({ rpm: 60, tpm: 9 });
});

test("an invalid address is marked before the form is sent", () => {
  const draft = { ...emptyDraft, name: "ci", allowedIps: ["10.0.0.0/8", "example.com"] };
  expect(faultsOf(draft).allowedIps).toContain("example.com");
  expect(blockedBy(draft)).toBe("Check the marked fields.");
  expect(faultsOf({ ...draft, allowedIps: ["10.0.0.0/8"] }).allowedIps).toBeNull();
});
