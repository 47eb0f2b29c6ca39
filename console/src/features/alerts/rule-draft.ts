import type { AlertCondition, AlertKind, AlertRule, BodyInput } from "@sluice/contract";
import type { Problem } from "../../client/problem.ts";
import { t } from "../../language/areas/alerts.ts";

export const watches = ["all", "workspace", "groups", "group", "persons", "person", "keys", "key", "policies"] as const;
export type Watch = (typeof watches)[number];

export const verdicts = ["blocked", "masked", "flagged"] as const;

export const mutes = ["keep", "none", "hour", "day", "week"] as const;
type Mute = (typeof mutes)[number];

/** The state of a rule's form. It keeps the input of all types, so that switching between them loses nothing. */
export interface RuleDraft {
  /** Empty: called by its kind. */
  readonly name: string;
  /** A slug; null: the installation. */
  readonly workspace: string | null;
  readonly kind: AlertKind;
  readonly percents: readonly number[];
  readonly watch: Watch;
  /** The group, person or key that the budget belongs to: an id. */
  readonly scopeId: string | null;
  readonly errorPercent: number | null;
  readonly seconds: number | null;
  readonly minutes: number | null;
  readonly minRequests: number | null;
  readonly span: "hour" | "day";
  readonly factor: number | null;
  readonly minUsd: number | null;
  /** Numbers, separated by commas. */
  readonly days: string;
  readonly failures: number | null;
  readonly stuckHours: number | null;
  readonly findings: number | null;
  /** null: any. */
  readonly verdict: (typeof verdicts)[number] | null;
  /** An id; null: all. */
  readonly guardrail: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly group: string | null;
  readonly key: string | null;
  readonly channels: readonly string[];
  readonly quiet: boolean;
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly repeatHours: number | null;
  readonly sendResolved: boolean;
  readonly enabled: boolean;
  readonly mute: Mute;
}

export interface RuleFieldsProps {
  readonly draft: RuleDraft;
  readonly onChange: (changes: Partial<RuleDraft>) => void;
  readonly problem: Problem | null;
}

export function emptyRule(workspace: string | null, timeZone: string): RuleDraft {
  return {
    ...{ name: "", workspace, kind: "budget", percents: [80, 100], watch: "all", scopeId: null },
    ...{ errorPercent: 25, seconds: 30, minutes: 15, minRequests: 20, span: "day", factor: 3, minUsd: 10 },
    ...{ stuckHours: 25, findings: 10, verdict: null, guardrail: null },
    ...{ days: "7, 1", failures: 3, model: null, provider: null, group: null, key: null, channels: [] },
    ...{ quiet: false, from: "22:00", to: "07:00", timeZone, repeatHours: null, sendResolved: true },
    ...{ enabled: true, mute: "keep" },
  };
}

/** The name of a rule, or of its kind if it has none. */
export function ruleWords(name: string | null, kind: AlertKind): string {
  return name ?? t(`alerts.kind.${kind}`);
}

export function ruleDraftOf(rule: AlertRule, timeZone: string): RuleDraft {
  const { condition, quiet_hours: quiet } = rule;
  return {
    ...emptyRule(rule.workspace?.slug ?? null, timeZone),
    ...fieldsOf(condition),
    ...{ name: rule.name ?? "", kind: condition.kind, channels: rule.channels, enabled: rule.enabled },
    ...(quiet === null ? {} : { quiet: true, from: quiet.from, to: quiet.to, timeZone: quiet.time_zone }),
    ...{ repeatHours: rule.repeat_hours, sendResolved: rule.send_resolved },
  };
}

function fieldsOf(condition: AlertCondition): Partial<RuleDraft> {
  switch (condition.kind) {
    case "budget":
      return { percents: condition.percent, watch: watchOf(condition), scopeId: condition.scope_id };
    case "error_rate":
      return { ...trafficOf(condition), errorPercent: condition.percent };
    case "latency":
      return { ...trafficOf(condition), seconds: condition.ms / 1_000 };
    case "provider_down":
      return { minutes: condition.minutes, minRequests: condition.min_attempts, provider: condition.provider ?? null };
    case "spend_anomaly":
      return { ...filterOf(condition), span: condition.span, factor: condition.factor, minUsd: condition.min_usd };
    case "token_expiry":
      return { days: condition.days.join(", "), key: condition.key ?? null };
    case "key_request":
      return {};
    case "delivery_failure":
      return { failures: condition.failures };
    case "guardrail_findings":
      return { ...guardrailOf(condition), findings: condition.requests, verdict: condition.verdict ?? null };
    case "guardrail_failure":
      return { ...guardrailOf(condition), failures: condition.failures };
    case "batch_rows_failed":
      return { errorPercent: condition.percent, minRequests: condition.min_rows };
    case "bill_difference":
      return { errorPercent: condition.percent, provider: condition.provider ?? null };
    case "batch_stuck":
      return { stuckHours: condition.hours };
    case "shadow":
      return {};
  }
}

function guardrailOf(condition: Extract<AlertCondition, { kind: "guardrail_findings" | "guardrail_failure" }>) {
  return { minutes: condition.minutes, guardrail: condition.guardrail ?? null };
}

function filterOf({
  model,
  provider,
  group,
  key,
}: Extract<AlertCondition, { kind: "spend_anomaly" | "latency" | "error_rate" }>) {
  return { model: model ?? null, provider: provider ?? null, group: group ?? null, key: key ?? null };
}

function trafficOf(condition: Extract<AlertCondition, { kind: "latency" | "error_rate" }>) {
  return { ...filterOf(condition), minutes: condition.minutes, minRequests: condition.min_requests };
}

export function watchOf({ scope, scope_id: id }: Extract<AlertCondition, { kind: "budget" }>): Watch {
  if (scope === null) return "all";
  if (scope === "workspace") return "workspace";
  if (scope === "policy") return "policies";
  return id === null ? `${scope}s` : scope;
}

/** It watches the budget of one group, person or key. */
export function isSingle(watch: Watch): watch is "group" | "person" | "key" {
  return watch === "group" || watch === "person" || watch === "key";
}

type Body = BodyInput<"alertRules.create">;

/** `mutedUntil`: the current state, in Unix milliseconds. */
export function ruleBodyOf(draft: RuleDraft, mutedUntil: number | null, now: number): Body {
  const quiet = { from: draft.from, to: draft.to, time_zone: draft.timeZone };
  return {
    name: draft.name.trim() || null,
    condition: conditionOf(draft),
    channels: [...draft.channels],
    quiet_hours: draft.quiet ? quiet : null,
    repeat_hours: draft.repeatHours,
    send_resolved: draft.sendResolved,
    enabled: draft.enabled,
    muted_until: draft.mute === "keep" ? mutedUntil : draft.mute === "none" ? null : now + muteMs[draft.mute],
  };
}

const hourMs = 3_600_000;
const muteMs = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const;

function conditionOf(draft: RuleDraft): AlertCondition {
  const { kind } = draft;
  const filterBy = (name: "model" | "provider" | "group" | "key" | "guardrail" | "verdict") =>
    draft[name] === null ? {} : { [name]: draft[name] };
  const filter = { ...filterBy("model"), ...filterBy("provider"), ...filterBy("group"), ...filterBy("key") };
  const window = { minutes: draft.minutes ?? 0, min_requests: draft.minRequests ?? 0 };
  switch (kind) {
    case "budget":
      return { kind, percent: draft.percents.toSorted((one, other) => one - other), ...scopeOf(draft) };
    case "error_rate":
      return { kind, percent: draft.errorPercent ?? 0, ...window, ...filter };
    case "latency":
      return { kind, ms: Math.round((draft.seconds ?? 0) * 1_000), ...window, ...filter };
    case "provider_down":
      return { kind, minutes: window.minutes, min_attempts: window.min_requests, ...filterBy("provider") };
    case "spend_anomaly":
      return { kind, span: draft.span, factor: draft.factor ?? 0, min_usd: draft.minUsd ?? 0, ...filter };
    case "token_expiry":
      return { kind, days: daysOf(draft.days), ...filterBy("key") };
    case "key_request":
      return { kind };
    case "delivery_failure":
      return { kind, failures: draft.failures ?? 0 };
    case "guardrail_findings": {
      const { minutes } = window;
      return { kind, requests: draft.findings ?? 0, minutes, ...filterBy("verdict"), ...filterBy("guardrail") };
    }
    case "guardrail_failure":
      return { kind, failures: draft.failures ?? 0, minutes: window.minutes, ...filterBy("guardrail") };
    case "batch_rows_failed":
      return { kind, percent: draft.errorPercent ?? 0, min_rows: window.min_requests };
    case "bill_difference":
      return { kind, percent: draft.errorPercent ?? 0, ...filterBy("provider") };
    case "batch_stuck":
      return { kind, hours: draft.stuckHours ?? 0 };
    case "shadow":
      return { kind };
  }
}

function scopeOf({ watch, scopeId }: RuleDraft) {
  if (watch === "all") return { scope: null, scope_id: null };
  if (watch === "workspace") return { scope: watch, scope_id: null };
  if (watch === "groups") return { scope: "group", scope_id: null } as const;
  if (watch === "persons") return { scope: "person", scope_id: null } as const;
  if (watch === "policies") return { scope: "policy", scope_id: null } as const;
  if (watch === "keys") return { scope: "key", scope_id: null } as const;
  return { scope: watch, scope_id: scopeId };
}

function daysOf(text: string): number[] {
  const parts = text.split(/[,，、\s]+/).filter((part) => part !== "");
  return parts.map(Number);
}

/** Why the form cannot be sent; null if it can. */
export function ruleBlockedBy(draft: RuleDraft): string | null {
  if (draft.kind === "budget") {
    if (isSingle(draft.watch) && draft.scopeId === null) return t("alerts.form.scopeMissing", { scope: draft.watch });
    if (draft.percents.length === 0) return t("alerts.form.thresholdMissing");
  }
  if (numbersOf(draft).some((number) => number === null || !(number > 0))) return t("alerts.form.numberMissing");
  const times = [draft.from, draft.to];
  if (draft.quiet && times.some((time) => !/^\d\d:\d\d$/.test(time))) return t("alerts.form.quietMissing");
  return null;
}

function numbersOf(draft: RuleDraft): readonly (number | null)[] {
  const { minutes, minRequests } = draft;
  switch (draft.kind) {
    case "budget":
    case "key_request":
    case "shadow":
      return [];
    case "error_rate":
      return [draft.errorPercent, minutes, minRequests];
    case "latency":
      return [draft.seconds, minutes, minRequests];
    case "provider_down":
      return [minutes, minRequests];
    case "spend_anomaly":
      return [draft.factor, draft.minUsd];
    case "token_expiry":
      return draft.days.trim() === "" ? [null] : daysOf(draft.days);
    case "delivery_failure":
      return [draft.failures];
    case "guardrail_findings":
      return [draft.findings, minutes];
    case "guardrail_failure":
      return [draft.failures, minutes];
    case "batch_rows_failed":
      return [draft.errorPercent, minRequests];
    case "bill_difference":
      return [draft.errorPercent];
    case "batch_stuck":
      return [draft.stuckHours];
  }
}
