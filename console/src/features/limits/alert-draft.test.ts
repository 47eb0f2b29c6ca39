import { expect, test } from "bun:test";
import type { Notice } from "@sluice/contract";
import { alertBlockedBy, alertBodyOf, alertDraftOf, alertFaultsOf, emptyAlert } from "./alert-draft.ts";

const alert: Notice = {
  id: "not_1",
  name: "Finance",
  percent: [100, 50],
  scope: "group",
  scope_id: "grp_1",
  channel: { kind: "email", to: ["ada@example.com"] },
  enabled: true,
  created_at: 1_795_000_000_000,
  last: null,
};

test("an alert of any scope passes through its form unchanged", () => {
  const scopes: Pick<Notice, "scope" | "scope_id">[] = [
    { scope: null, scope_id: null },
    { scope: "workspace", scope_id: "ws_1" },
    { scope: "group", scope_id: null },
    { scope: "group", scope_id: "grp_1" },
    { scope: "key", scope_id: null },
    { scope: "key", scope_id: "key_1" },
  ];
  for (const scope of scopes) {
    const { id: _id, created_at: _at, last: _last, ...fields } = { ...alert, ...scope };
    expect(alertBodyOf(alertDraftOf({ ...alert, ...scope }), "ws_1")).toEqual({ ...fields, percent: [50, 100] });
  }
});

test("the form requires a recipient, a threshold and a channel", () => {
  const draft = { ...emptyAlert, name: "Finance" };
  expect(alertBlockedBy(draft)).toContain("email");
  expect(alertBlockedBy({ ...draft, to: ["ada@example.com"] })).toBeNull();
  expect(alertBlockedBy({ ...draft, to: ["ada@example.com"], percent: [] })).toContain("threshold");
  expect(alertBlockedBy({ ...draft, to: ["ada@example.com"], watch: "key" })).toContain("key");
  for (const url of ["", "hooks.example.com", "javascript:alert(1)", "ftp://example.com"])
    expect(alertBlockedBy({ ...draft, kind: "webhook", url })).not.toBeNull();
  expect(alertFaultsOf({ ...draft, kind: "webhook", url: "ftp://example.com" }).url).toContain("https");
  expect(alertFaultsOf({ ...draft, to: ["ada@example.com", "ada"] }).to).toContain("ada is not");
  expect(alertBlockedBy({ ...draft, to: ["ada"] })).toBe("Check the marked fields.");
  expect(alertBlockedBy({ ...draft, kind: "webhook", url: "https://hooks.example.com/x" })).toBeNull();
});
