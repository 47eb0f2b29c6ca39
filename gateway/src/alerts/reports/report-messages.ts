import type { AlertTarget } from "@sluice/contract/console";
import type { ConsoleLanguage } from "@sluice/contract/words";
import type { Mail } from "#ports/index.ts";
import { type ChannelRequest, openText, slackMessage, teamsMessage } from "../messages.ts";
import type { Period } from "./due-times.ts";
import {
  type ReportContent,
  type ReportFigures,
  type StoppedContent,
  type StopReason,
  stopSentence,
} from "./report-content.ts";

/** A message with a report, or about its end. */
export interface ReportMessage {
  /** Unique; repeated attempts have the same. */
  readonly id: string;
  readonly reportId: string;
  readonly name: string;
  /** A slug; null: all workspaces. */
  readonly workspace: string | null;
  readonly at: number;
  readonly content: ReportContent | StoppedContent;
  readonly csv: string | null;
  /** The name of the product in this installation. */
  readonly product: string;
  /** Address of the view; null: the gateway does not know its public address. */
  readonly url: string | null;
}

const nameMax = 120;
const subjectMax = 200;

/** A mail in one language, or in several if its recipients differ. */
export function reportMail(message: ReportMessage, languages: readonly ConsoleLanguage[]): Omit<Mail, "to"> {
  const [first = "en"] = languages;
  const { content, csv, product, url } = message;
  const text = languages
    .map((language) =>
      [
        titleOf(message, language),
        "",
        ...linesOf(message, language),
        ...(url === null ? [] : ["", `${openText(language, product)}: ${url}`]),
        "",
      ].join("\n"),
    )
    .join("\n");
  const file = "stopped" in content ? null : content.file;
  return {
    subject: `${product}: ${titleOf(message, first)}`.slice(0, subjectMax),
    text,
    ...(csv === null || file === null ? {} : { attachment: { name: `${file}.csv`, type: "text/csv", text: csv } }),
  };
}

export function reportRequest(
  target: Exclude<AlertTarget, { kind: "email" | "pagerduty" }>,
  message: ReportMessage,
  language: ConsoleLanguage,
): ChannelRequest {
  const title = titleOf(message, language);
  const lines = linesOf(message, language);
  const { product, url } = message;
  switch (target.kind) {
    case "slack":
      return {
        url: target.url,
        body: slackMessage({ title, heading: `📊 ${title}`, lines: [lines.join("\n")], product, url }, language),
      };
    case "teams":
      return { url: target.url, body: teamsMessage({ title, color: "Default", lines, product, url }, language) };
    case "webhook":
      return { url: target.url, body: webhookBody(message, [title, ...lines].join("\n")) };
  }
}

/** `text` (Mattermost) and `content` (Discord, at most 2,000 characters) are shown by chats; the rest is for programs. */
function webhookBody({ reportId, name, workspace, content, at, url }: ReportMessage, text: string) {
  const shown = text.slice(0, 2_000);
  const { page: _, file: _file, ...data } = "stopped" in content ? { ...content, page: "", file: null } : content;
  return {
    type: "stopped" in content ? "report.stopped" : "report.sent",
    timestamp: new Date(at).toISOString(),
    ...{ text: shown, content: shown, allowed_mentions: { parse: [] } },
    data: { report: reportId, name, workspace, ...data, url },
  };
}

function titleOf({ name, content }: ReportMessage, language: ConsoleLanguage): string {
  const words = texts[language];
  const short = oneLine(name);
  if ("stopped" in content) return words.stopped(short);
  return `${short}: ${usd(content.totals.cost_usd, language)}${changeOf(content, language)}`;
}

function linesOf({ content, workspace }: ReportMessage, language: ConsoleLanguage): readonly string[] {
  const words = texts[language];
  const place = workspace === null ? [] : [`${words.workspace}: ${workspace}`];
  if ("stopped" in content) return [words.reason(content.stopped), ...place];
  const { totals, previous, rows, rows_total, time_zone } = content;
  return [
    `${words.period}: ${periodText(content.period, time_zone, language)} (${time_zone})`,
    `${words.before}: ${periodText(content.compared, time_zone, language)}, ${usd(previous.cost_usd, language)}`,
    ...requestLine(totals, previous, language),
    ...place,
    ...rows.map(({ label, cost_usd, previous_cost_usd }, place) => {
      const change = percentText(cost_usd, previous_cost_usd, language);
      return `${place + 1}. ${oneLine(label)}: ${usd(cost_usd, language)}${change}`;
    }),
    ...(rows_total > rows.length ? [words.more(number(rows_total - rows.length, language))] : []),
  ];
}

function requestLine(totals: ReportFigures, previous: ReportFigures, language: ConsoleLanguage): readonly string[] {
  if (totals.requests === null || previous.requests === null) return [];
  const change = percentText(totals.requests, previous.requests, language);
  return [`${texts[language].requests}: ${number(totals.requests, language)}${change}`];
}

function changeOf({ totals, previous }: ReportContent, language: ConsoleLanguage): string {
  return percentText(totals.cost_usd, previous.cost_usd, language);
}

/** Empty if the value before is 0. */
function percentText(now: number, before: number, language: ConsoleLanguage): string {
  if (before <= 0) return "";
  const format = new Intl.NumberFormat(language, {
    style: "percent",
    maximumFractionDigits: 0,
    signDisplay: "exceptZero",
  });
  return ` (${format.format(now / before - 1)})`;
}

const dayMs = 86_400_000;

/** Days, or times if it is not in whole days. */
function periodText({ from, to }: Period, timeZone: string, language: ConsoleLanguage): string {
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const isDays = clock.format(from) < "01:00" && (clock.format(to) < "01:00" || to - from > dayMs);
  const format = new Intl.DateTimeFormat(language, {
    timeZone,
    dateStyle: "medium",
    ...(isDays ? {} : { timeStyle: "short" }),
  });
  return format.formatRange(from, isDays ? to - 1 : to);
}

function usd(value: number, language: ConsoleLanguage): string {
  const small = value !== 0 && Math.abs(value) < 0.01;
  return new Intl.NumberFormat(language, {
    ...{ style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" },
    ...(small ? { maximumSignificantDigits: 2 } : {}),
  }).format(value);
}

function number(value: number, language: ConsoleLanguage): string {
  return new Intl.NumberFormat(language).format(value);
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").slice(0, nameMax);
}

interface Texts {
  readonly period: string;
  readonly before: string;
  readonly requests: string;
  readonly workspace: string;
  readonly more: (count: string) => string;
  readonly stopped: (name: string) => string;
  readonly reason: (code: StopReason) => string;
}

const chineseReasons: Readonly<Record<StopReason, string>> = {
  report_owner_left: "报告的所有者已无法登录。",
  report_right_lost: "报告的所有者已无权查看其数据。",
  report_unreadable: "报告的视图已失效。",
  report_no_channel: "报告没有已启用的渠道。",
  report_failed: "无法读取报告的数据。",
};

const texts: Readonly<Record<ConsoleLanguage, Texts>> = {
  en: {
    period: "Period",
    before: "Before",
    requests: "Requests",
    workspace: "Workspace",
    more: (count) => `and ${count} more`,
    stopped: (name) => `The report ${name} is no longer sent.`,
    reason: stopSentence,
  },
  "zh-CN": {
    period: "周期",
    before: "上一周期",
    requests: "请求数",
    workspace: "工作区",
    more: (count) => `另有 ${count} 行`,
    stopped: (name) => `报告 ${name} 已停止发送。`,
    reason: (code) => chineseReasons[code],
  },
};
