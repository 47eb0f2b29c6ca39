import { expect, test } from "bun:test";
import type { AlertCondition, AlertRule } from "@sluice/contract";
import { emptyRule, ruleBlockedBy, ruleBodyOf, ruleDraftOf } from "./rule-draft.ts";

const rule: AlertRule = {
  id: "rule_1",
  name: "Finance",
  workspace: { id: "ws_1", slug: "acme" },
  condition: { kind: "budget", percent: [50, 100], scope: "group", scope_id: "grp_1" },
  channels: ["chan_1"],
  quiet_hours: { from: "22:00", to: "07:00", time_zone: "Europe/Berlin" },
  repeat_hours: 4,
  send_resolved: false,
  enabled: true,
  muted_until: 1_795_000_000_000,
  open: 0,
  created_at: 1_795_000_000_000,
};

test("a rule of any type passes through its form unchanged", () => {
  const filter = { model: "gpt-5", provider: "main", group: "grp_1", key: "key_1" };
  const conditions: AlertCondition[] = [
    { kind: "budget", percent: [80], scope: null, scope_id: null },
    { kind: "budget", percent: [80], scope: "workspace", scope_id: null },
    { kind: "budget", percent: [80], scope: "group", scope_id: null },
    { kind: "budget", percent: [80], scope: "key", scope_id: "key_1" },
    { kind: "error_rate", percent: 12.5, minutes: 5, min_requests: 10, ...filter },
    { kind: "latency", ms: 2_500, minutes: 5, min_requests: 10 },
    { kind: "provider_down", minutes: 5, min_attempts: 3, provider: "main" },
    { kind: "spend_anomaly", span: "hour", factor: 2, min_usd: 5, model: "gpt-5" },
    { kind: "token_expiry", days: [14, 1], key: "key_1" },
    { kind: "delivery_failure", failures: 5 },
    { kind: "guardrail_findings", requests: 5, minutes: 10, verdict: "masked", guardrail: "grl_1" },
    { kind: "guardrail_findings", requests: 5, minutes: 10 },
    { kind: "guardrail_failure", failures: 2, minutes: 5, guardrail: "grl_1" },
    { kind: "shadow" },
    { kind: "batch_rows_failed", percent: 10, min_rows: 50 },
    { kind: "batch_stuck", hours: 3 },
    { kind: "bill_difference", percent: 0.5, provider: "main" },
  ];
  for (const condition of conditions) {
    const { id: _id, workspace: _workspace, open: _open, created_at: _at, ...fields } = { ...rule, condition };
    expect(ruleBodyOf(ruleDraftOf({ ...rule, condition }, "UTC"), rule.muted_until, 0)).toEqual(fields);
  }
});

test("the form requires a threshold, a subject and every number", () => {
  const draft = { ...emptyRule("acme", "UTC"), name: "Finance" };
  expect(ruleBlockedBy(draft)).toBeNull();
  expect(ruleBlockedBy({ ...draft, name: " " })).toBeNull();
  expect(ruleBlockedBy({ ...draft, percents: [] })).toContain("threshold");
  expect(ruleBlockedBy({ ...draft, watch: "key" })).toContain("key");
  expect(ruleBlockedBy({ ...draft, kind: "latency", seconds: null })).toContain("number");
  expect(ruleBlockedBy({ ...draft, kind: "token_expiry", days: "7, x" })).toContain("number");
  expect(ruleBlockedBy({ ...draft, quiet: true, from: "" })).toContain("quiet");
});

test("mutes from now on, or ends it", () => {
  const draft = ruleDraftOf(rule, "UTC");
  expect(ruleBodyOf({ ...draft, mute: "hour" }, null, 1_000).muted_until).toBe(3_601_000);
  expect(ruleBodyOf({ ...draft, mute: "none" }, 5_000, 1_000).muted_until).toBeNull();
});
