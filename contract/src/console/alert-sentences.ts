import type { AlertEvent, AlertFacts, AlertSubject } from "./alert-table.ts";
import type { ConsoleLanguage } from "./languages.ts";

/** Names come from users, so their length is bounded. */
const nameMax = 120;
const sentenceMax = 500;

/** A sentence about an alert, and why it ended if its condition still held. Each function lists the facts of its kind. */
export function alertSentence({ kind, facts }: AlertSubject, language: ConsoleLanguage): string {
  const words = { ...wordsOf(facts, language), language };
  const reason = endings[language][String(facts["ended"] ?? "")] ?? "";
  return `${cut(sentences[language][kind](words), sentenceMax)}${reason}`;
}

/** The sentence of an alert after the reason for the message. */
export function alertHeadline(event: AlertEvent, subject: AlertSubject, language: ConsoleLanguage): string {
  return `${events[language][event]}${alertSentence(subject, language)}`;
}

interface Words {
  readonly language: ConsoleLanguage;
  /** A name or another text, on one line. */
  readonly text: (name: string) => string;
  readonly number: (name: string) => string;
  readonly usd: (name: string) => string;
  readonly percent: (name: string) => string;
  readonly time: (name: string) => string;
  readonly value: (name: string) => number;
  /** `of acme`, or empty for a subject without a workspace. */
  readonly within: (before: string, after: string) => string;
}

type Sentences = Readonly<Record<AlertSubject["kind"], (words: Words) => string>>;

const sentences: Readonly<Record<ConsoleLanguage, Sentences>> = {
  en: {
    // scope, scope_id, name, period, used_usd, limit_usd, percent
    budget: ({ text, usd, percent }) =>
      `${text("name")} has used ${usd("used_usd")} of its ${usd("limit_usd")} ${periods.en[text("period")] ?? ""}budget (${percent("percent")}).`,
    // workspace, failed, requests, percent, minutes; filter
    error_rate: ({ text, number, percent, within }) =>
      `${percent("percent")} of requests${within(" of ", "")}${about(text("filter"), " for ")} failed in the last ${minutes(text("minutes"))}: ${number("failed")} of ${number("requests")}.`,
    // workspace, p95_ms, limit_ms, requests, minutes; filter
    latency: ({ text, number, value, within }) =>
      `The p95 latency${within(" of ", "")}${about(text("filter"), " for ")} was ${seconds(value("p95_ms"))} in the last ${minutes(text("minutes"))}, above ${seconds(value("limit_ms"))} (${number("requests")} requests).`,
    // provider, attempts, failed, minutes
    provider_down: ({ text, number, value }) =>
      value("failed") === 0
        ? `Provider ${text("provider")} is down: its circuit breaker is open.`
        : `Provider ${text("provider")} is down: ${number("failed")} of ${number("attempts")} attempts failed in the last ${minutes(text("minutes"))}.`,
    // workspace, spent_usd, usual_usd, span; filter
    spend_anomaly: ({ text, usd, within }) =>
      `Spend${within(" of ", "")}${about(text("filter"), " for ")} is ${usd("spent_usd")} ${text("span") === "hour" ? "in the last hour" : "today"}; usual for this time of the week is ${usd("usual_usd")}.`,
    // workspace, token, key_id, expires_at, days
    token_expiry: ({ text, time, value, within }) =>
      `Service token ${text("token")}${within(" of ", "")} expires on ${time("expires_at")}, in ${value("days") === 1 ? "less than a day" : `less than ${text("days")} days`}. Calls with it will fail then.`,
    // workspace, request, name, requester, state, decided_by, reason
    key_request: ({ text, within }) => {
      const key = `${text("requester")}'s request for the key ${text("name")}${within(" in ", "")}`;
      if (text("state") === "approved")
        return `${key} was approved by ${text("decided_by")}. The key can be collected.`;
      if (text("state") === "declined") return `${key} was declined by ${text("decided_by")}: ${text("reason")}`;
      return `${text("requester")} requests the key ${text("name")}${within(" in ", "")}.`;
    },
    // provider, day, percent, differing_usd
    bill_difference: ({ text, usd, percent }) =>
      `The bill of ${text("provider")} and the ledger differ by ${usd("differing_usd")} (${percent("percent")}) on ${text("day")}, without an explanation.`,
    // target (webhook or channel), name, failures, problem
    delivery_failure: ({ text, number, within }) =>
      text("target") === "channel"
        ? `The last message to the alert channel ${text("name")} failed after ${number("failures")} attempts: ${text("problem")}`
        : `${number("failures")} webhooks of tasks${within(" of ", "")} fail and wait for another attempt: ${text("problem")}`,
    // workspace, guardrail, guardrail_id, requests, minutes; verdict
    guardrail_findings: ({ text, number, value, within }) =>
      `Guardrail ${text("guardrail")} ${verdicts.en[text("verdict")] ?? "found something in"} ${value("requests") === 1 ? "one request" : `${number("requests")} requests`}${within(" of ", "")} in the last ${minutes(text("minutes"))}.`,
    // workspace, guardrail, guardrail_id, requests, minutes, problem
    guardrail_failure: ({ text, number, value, within }) =>
      `Guardrail ${text("guardrail")} could not check ${value("requests") === 1 ? "one request" : `${number("requests")} requests`}${within(" of ", "")} in the last ${minutes(text("minutes"))}: ${text("problem")}`,
    // workspace; guardrail, guardrail_id, requests; or rule, scope, scope_id, grant
    shadow: ({ text, within }) =>
      text("guardrail") === ""
        ? `Calls${within(" of ", "")} would have been refused by a rule in shadow mode: ${text("rule")}. They were served.`
        : `Guardrail ${text("guardrail")}, in shadow mode, found something in calls${within(" of ", "")}. The calls did not change.`,
    // workspace, batch, name, failed, rows, percent
    batch_rows_failed: ({ text, number, percent, within }) =>
      `${percent("percent")} of the rows of batch ${text("name") || text("batch")}${within(" of ", "")} failed: ${number("failed")} of ${number("rows")}.`,
    // workspace, batch, name, hours, open, rows
    batch_stuck: ({ text, number, value, within }) =>
      `Batch ${text("name") || text("batch")}${within(" of ", "")} has made no progress for ${value("hours") === 1 ? "an hour" : `${number("hours")} hours`}: ${number("open")} of ${number("rows")} rows are open.`,
  },
  "zh-CN": {
    budget: ({ text, usd, percent }) =>
      `${text("name")} 的${periods["zh-CN"][text("period")] ?? ""}预算 ${usd("limit_usd")} 已使用 ${usd("used_usd")}（${percent("percent")}）。`,
    error_rate: ({ text, number, percent, within }) =>
      `${within("", " ")}${about(text("filter"), "", " ")}最近 ${text("minutes")} 分钟有 ${percent("percent")} 的请求失败（${number("failed")} / ${number("requests")}）。`,
    latency: ({ text, number, value, within }) =>
      `${within("", " ")}${about(text("filter"), "", " ")}最近 ${text("minutes")} 分钟的 p95 延迟为 ${seconds(value("p95_ms"))}，高于 ${seconds(value("limit_ms"))}（${number("requests")} 个请求）。`,
    provider_down: ({ text, number, value }) =>
      value("failed") === 0
        ? `提供商 ${text("provider")} 不可用：熔断器已打开。`
        : `提供商 ${text("provider")} 不可用：最近 ${text("minutes")} 分钟 ${number("attempts")} 次尝试中有 ${number("failed")} 次失败。`,
    spend_anomaly: ({ text, usd, within }) =>
      `${within("", " ")}${about(text("filter"), "", " ")}${text("span") === "hour" ? "最近一小时" : "今天"}的支出为 ${usd("spent_usd")}，往周同一时段通常为 ${usd("usual_usd")}。`,
    token_expiry: ({ text, time, value, within }) =>
      `${within("", " 的")}服务令牌 ${text("token")} 将于 ${time("expires_at")} 过期（剩余不到 ${value("days") === 1 ? "1" : text("days")} 天），届时使用它的调用会失败。`,
    key_request: ({ text, within }) => {
      const key = `${text("requester")} 申请的${within("", " ")}密钥 ${text("name")}`;
      if (text("state") === "approved") return `${key} 已由 ${text("decided_by")} 批准，可以领取。`;
      if (text("state") === "declined") return `${key} 被 ${text("decided_by")} 拒绝：${text("reason")}`;
      return `${text("requester")} 申请${within("", " ")}密钥 ${text("name")}。`;
    },
    bill_difference: ({ text, usd, percent }) =>
      `${text("provider")} ${text("day")} 的账单与账本相差 ${usd("differing_usd")}（${percent("percent")}），尚未说明原因。`,
    delivery_failure: ({ text, number, within }) =>
      text("target") === "channel"
        ? `告警渠道 ${text("name")} 的最近一条消息尝试 ${number("failures")} 次后仍未送达：${text("problem")}`
        : `${within("", " 的")}任务 Webhook 有 ${number("failures")} 条发送失败，正在等待重试：${text("problem")}`,
    guardrail_findings: ({ text, number, within }) =>
      `防护规则 ${text("guardrail")} 最近 ${text("minutes")} 分钟${verdicts["zh-CN"][text("verdict")] ?? "命中"}了${within(" ", " 的")} ${number("requests")} 个请求。`,
    guardrail_failure: ({ text, number, within }) =>
      `防护规则 ${text("guardrail")} 最近 ${text("minutes")} 分钟未能检查${within(" ", " 的")} ${number("requests")} 个请求：${text("problem")}`,
    shadow: ({ text, within }) =>
      text("guardrail") === ""
        ? `${within("", " ")}有调用本应被影子模式的规则拒绝：${text("rule")}。调用已照常放行。`
        : `影子模式的防护规则 ${text("guardrail")} 命中了${within(" ", " 的")}调用，调用未被改变。`,
    batch_rows_failed: ({ text, number, percent, within }) =>
      `${within("", " 的")}批处理 ${text("name") || text("batch")} 有 ${percent("percent")} 的行失败（${number("failed")} / ${number("rows")}）。`,
    batch_stuck: ({ text, number, within }) =>
      `${within("", " 的")}批处理 ${text("name") || text("batch")} 已 ${number("hours")} 小时没有进展：${number("rows")} 行中有 ${number("open")} 行未完成。`,
  },
};

const verdicts: Readonly<Record<ConsoleLanguage, Readonly<Record<string, string>>>> = {
  en: { blocked: "blocked", masked: "masked something in", flagged: "flagged" },
  "zh-CN": { blocked: "拦截", masked: "脱敏", flagged: "标记" },
};

const events: Readonly<Record<ConsoleLanguage, Readonly<Record<AlertEvent, string>>>> = {
  en: { opened: "", worse: "", reminder: "Still open: ", resolved: "Resolved: " },
  "zh-CN": { opened: "", worse: "", reminder: "仍未恢复：", resolved: "已恢复：" },
};

/** For alerts that ended without the end of their condition, by their fact `ended`. */
const endings: Readonly<Record<ConsoleLanguage, Readonly<Record<string, string>>>> = {
  en: {
    rule_disabled: " The alert ended because its rule was disabled.",
    rule_deleted: " The alert ended because its rule was deleted.",
  },
  "zh-CN": { rule_disabled: "规则已停用，告警因此结束。", rule_deleted: "规则已删除，告警因此结束。" },
};

const periods: Readonly<Record<ConsoleLanguage, Readonly<Record<string, string>>>> = {
  en: { hour: "hourly ", day: "daily ", week: "weekly ", month: "monthly ", total: "total " },
  "zh-CN": { hour: "每小时", day: "每日", week: "每周", month: "每月", total: "总" },
};

function wordsOf(facts: AlertFacts, language: ConsoleLanguage): Omit<Words, "language"> {
  const value = (name: string) => Number(facts[name] ?? 0);
  const text = (name: string) => cut(String(facts[name] ?? "").replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " "), nameMax);
  return {
    value,
    text,
    number: (name) => new Intl.NumberFormat(language).format(value(name)),
    usd: (name) => usdText(value(name), language),
    percent: (name) => `${Math.round(value(name))}%`,
    time: (name) => `${new Date(value(name)).toISOString().slice(0, 16).replace("T", " ")} UTC`,
    within: (before, after) => (text("workspace") === "" ? "" : `${before}${text("workspace")}${after}`),
  };
}

/** Cents; amounts below a cent with two digits. */
function usdText(usd: number, language: ConsoleLanguage): string {
  const small = usd !== 0 && Math.abs(usd) < 0.01;
  return new Intl.NumberFormat(language, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    ...(small ? { maximumSignificantDigits: 2 } : {}),
  }).format(usd);
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toPrecision(3))} s`;
}

function minutes(count: string): string {
  return count === "1" ? "minute" : `${count} minutes`;
}

function about(filter: string, before: string, after = ""): string {
  return filter === "" ? "" : `${before}${filter}${after}`;
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
