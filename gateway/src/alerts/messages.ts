import type { AlertTarget } from "@sluice/contract/console";
import {
  type AlertEvent,
  type AlertFacts,
  type AlertKind,
  type AlertSeverity,
  alertHeadline,
  type ConsoleLanguage,
} from "@sluice/contract/words";
import { pagerDutyHosts } from "./alert-settings.ts";

/** A message about an alert, or a test of a channel. */
export interface AlertMessage {
  /** Unique; repeated attempts have the same. */
  readonly id: string;
  readonly alertId: string;
  readonly event: AlertEvent | "test";
  readonly kind: AlertKind;
  readonly severity: AlertSeverity;
  readonly facts: AlertFacts;
  /** null: the rule has no name. */
  readonly ruleName: string | null;
  /** A slug; null: the installation. */
  readonly workspace: string | null;
  /** The name of the product in this installation. */
  readonly product: string;
  /** Unix milliseconds of the event. */
  readonly at: number;
  /** Address of the page about the cause; null: the gateway does not know its public address. */
  readonly url: string | null;
}

const titleMax = 200;

function titleOf(message: AlertMessage, language: ConsoleLanguage): string {
  if (message.event === "test") return texts[language].test(message.product);
  return alertHeadline(message.event, message, language);
}

/** A mail in one language, or in several if its recipients differ. */
export function mailOf(message: AlertMessage, languages: readonly ConsoleLanguage[]) {
  const [first = "en"] = languages;
  const text = languages
    .map((language) =>
      [
        titleOf(message, language),
        ...sourceLines(message, language).map((line, index) => (index === 0 ? `\n${line}` : line)),
        ...(message.url === null ? [] : ["", `${openText(language, message.product)}: ${message.url}`]),
        "",
      ].join("\n"),
    )
    .join("\n");
  return { subject: `${message.product}: ${titleOf(message, first)}`.slice(0, titleMax), text };
}

/** An HTTP request to a channel. Signed channels get more headers. */
export interface ChannelRequest {
  readonly url: string;
  readonly body: object;
}

export function requestOf(
  target: Exclude<AlertTarget, { kind: "email" }>,
  message: AlertMessage,
  language: ConsoleLanguage,
): ChannelRequest {
  const { product, url } = message;
  const text = { title: titleOf(message, language), lines: sourceLines(message, language), product, url };
  const mark = markOf(message);
  switch (target.kind) {
    case "slack":
      return { url: target.url, body: slackMessage({ ...text, heading: `${marks[mark]} ${text.title}` }, language) };
    case "teams":
      return { url: target.url, body: teamsMessage({ ...text, color: teamsColors[mark] }, language) };
    case "pagerduty":
      return {
        url: `https://${pagerDutyHosts[target.region]}/v2/enqueue`,
        body: pagerDutyBody(target.routing_key, message, language),
      };
    case "webhook":
      return { url: target.url, body: webhookBody(message, language) };
  }
}

/**
 * Names from users are only in plain text objects, which Slack does not parse. `text` is shown in notifications, and parsed.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export function slackMessage(
  { title, heading, lines, product, url }: ChatText & { readonly heading: string },
  language: ConsoleLanguage,
) {
  const elements = lines.map((text) => ({ type: "plain_text", text, emoji: false }));
  return {
    text: escapeSlack(title),
    blocks: [
      { type: "section", text: { type: "plain_text", text: heading, emoji: false } },
      // Slack refuses a context without elements.
      ...(elements.length === 0 ? [] : [{ type: "context", elements }]),
      ...(url === null
        ? []
        : [
            { type: "section", text: { type: "mrkdwn", text: `<${url}|${escapeSlack(openText(language, product))}>` } },
          ]),
    ],
  };
}

/** A message to a chat. `url`: of a page of the console. */
interface ChatText {
  readonly title: string;
  readonly lines: readonly string[];
  readonly product: string;
  readonly url: string | null;
}

export function openText(language: ConsoleLanguage, product: string): string {
  return texts[language].open(product);
}

function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/**
 * For the workflow trigger "When a Teams webhook request is received". Text runs are not parsed as Markdown, unlike text blocks.
 * https://adaptivecards.io/explorer/RichTextBlock.html
 */
export function teamsMessage(
  { title, color, lines, product, url }: ChatText & { readonly color: string },
  language: ConsoleLanguage,
) {
  const block = (text: string, style: object) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, ...style }],
  });
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [block(title, { weight: "Bolder", color }), ...lines.map((text) => block(text, { isSubtle: true }))],
          ...(url === null ? {} : { actions: [{ type: "Action.OpenUrl", title: openText(language, product), url }] }),
        },
      },
    ],
  };
}

/** https://developer.pagerduty.com/docs/send-alert-event */
function pagerDutyBody(routingKey: string, message: AlertMessage, language: ConsoleLanguage) {
  const common = { routing_key: routingKey, dedup_key: `sluice-${message.alertId}` };
  if (message.event === "resolved") return { ...common, event_action: "resolve" };
  return {
    ...common,
    event_action: "trigger",
    payload: {
      summary: titleOf(message, language),
      source: message.workspace ?? "sluice",
      severity: message.event === "test" ? "info" : message.severity,
      timestamp: new Date(message.at).toISOString(),
      component: "sluice",
      class: message.kind,
      custom_details: { rule: message.ruleName, ...message.facts },
    },
    ...(message.url === null ? {} : { links: [{ href: message.url, text: openText(language, message.product) }] }),
    client: message.product,
    ...(message.url === null ? {} : { client_url: message.url }),
  };
}

/** `text` (Mattermost) and `content` (Discord) are shown by chats; the rest is for programs. */
function webhookBody(message: AlertMessage, language: ConsoleLanguage) {
  const text = titleOf(message, language);
  return {
    type: `alert.${message.event}`,
    timestamp: new Date(message.at).toISOString(),
    ...{ text, content: text, allowed_mentions: { parse: [] } },
    data: {
      ...{ alert: message.alertId, kind: message.kind, severity: message.severity },
      ...{ rule: message.ruleName, workspace: message.workspace, facts: message.facts, url: message.url },
    },
  };
}

function sourceLines({ ruleName, workspace }: AlertMessage, language: ConsoleLanguage): readonly string[] {
  const words = texts[language];
  return [
    ...(ruleName === null ? [] : [`${words.rule}: ${ruleName.replace(/\p{Cc}+/gu, " ").slice(0, titleMax)}`]),
    ...(workspace === null ? [] : [`${words.workspace}: ${workspace}`]),
  ];
}

const texts = {
  en: {
    test: (product: string) => `This is a test message from ${product}. Alerts sent to this channel arrive here.`,
    open: (product: string) => `Open in ${product}`,
    rule: "Rule",
    workspace: "Workspace",
  },
  "zh-CN": {
    test: (product: string) => `这是来自 ${product} 的测试消息。发送到此渠道的告警会显示在这里。`,
    open: (product: string) => `在 ${product} 中打开`,
    rule: "规则",
    workspace: "工作区",
  },
} as const satisfies Readonly<Record<ConsoleLanguage, object>>;

type Mark = AlertSeverity | "good";

function markOf({ event, severity }: AlertMessage): Mark {
  return event === "resolved" || event === "test" ? "good" : severity;
}

const marks: Readonly<Record<Mark, string>> = { critical: "🔴", warning: "🟠", good: "🟢" };
const teamsColors: Readonly<Record<Mark, string>> = { critical: "Attention", warning: "Warning", good: "Good" };
