import type { NoticeChannel } from "@sluice/contract";
import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, endingTokenId } from "#core/index.ts";
import type { Crossing } from "#directory/index.ts";
import type { Clock, Mailer, Transport } from "#ports/index.ts";
import { webhookHeaders, webhookProblem } from "#tasks/index.ts";

export interface NoticeSenderOptions {
  readonly transport: Transport;
  /** null: no mail server is configured. */
  readonly mailer: Mailer | null;
  readonly clock: Clock;
  readonly webhookSecrets: (workspaceId: string) => readonly string[];
}

export interface NoticeMessage extends Crossing {
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly noticeName: string;
  /** Sent by hand, to see whether it arrives. */
  readonly test: boolean;
}

/** Sends one message. Resolves to what went wrong, in words; null when it was taken. */
export class NoticeSender {
  readonly #options: NoticeSenderOptions;

  constructor(options: NoticeSenderOptions) {
    this.#options = options;
  }

  async send(channel: NoticeChannel, message: NoticeMessage, signal: AbortSignal): Promise<string | null> {
    try {
      return channel.kind === "webhook"
        ? await this.#post(channel.url, message, signal)
        : await this.#mail(channel.to, message);
    } catch (thrown) {
      return channel.kind === "webhook" ? webhookProblem(thrown) : asFailure(thrown).message;
    }
  }

  async #mail(to: readonly string[], message: NoticeMessage): Promise<string | null> {
    if (this.#options.mailer === null) {
      return remarkSentence("alert", { code: "no_mail_server", params: {} });
    }
    await this.#options.mailer.send({ to, subject: subjectOf(message), text: `${sentenceOf(message)}\n` });
    return null;
  }

  async #post(url: string, message: NoticeMessage, signal: AbortSignal): Promise<string | null> {
    const { transport, clock, webhookSecrets } = this.#options;
    const now = clock.now();
    const id = `${message.noticeId}.${message.periodStart}.${message.percent}.${message.test ? now : "n"}`;
    const body = JSON.stringify(bodyOf(message, now));
    const answer = await transport.send(
      {
        method: "POST",
        url,
        headers: {
          "content-type": "application/json",
          ...webhookHeaders(id, body, webhookSecrets(message.workspaceId), now),
        },
        body: new TextEncoder().encode(body),
        connectMs: bounds.deliveryTotalMs,
        headersMs: bounds.deliveryTotalMs,
        totalMs: bounds.deliveryTotalMs,
        // Whoever may write an address must not reach our own network through us, but for what an administrator has named.
        allowPrivateNetwork: false,
        webhook: true,
      },
      signal,
    );
    answer.body.cancel();
    const { status } = answer;
    return status >= 200 && status < 300 ? null : remarkSentence("alert", { code: "answered", params: { status } });
  }
}

/** `text` and `content` are what chats (Slack, Mattermost; Discord) show of a message; the rest is for programs. */
function bodyOf(message: NoticeMessage, now: number) {
  const sentence = sentenceOf(message);
  const said = { timestamp: new Date(now).toISOString(), text: sentence, content: sentence };
  const tokenId = endingTokenId(message);
  if (tokenId !== null) {
    return {
      type: "service_token.expires",
      ...said,
      data: {
        notice: message.noticeName,
        workspace: message.workspaceSlug,
        token: message.label,
        key_id: tokenId,
        expires_at: message.periodStart,
        days: message.percent,
      },
    };
  }
  return {
    type: "budget.threshold",
    ...said,
    data: {
      test: message.test,
      notice: message.noticeName,
      workspace: message.workspaceSlug,
      budget: message.label,
      percent: message.percent,
      used_usd: message.usedUsd,
      limit_usd: message.limitUsd,
      period_start: message.periodStart,
    },
  };
}

function subjectOf(message: NoticeMessage): string {
  if (endingTokenId(message) !== null) return `Sluice: the service token ${message.label} expires soon`;
  return `Sluice: ${message.test ? "a try: " : ""}${message.label} has used ${message.percent} % of its budget`;
}

function sentenceOf(message: NoticeMessage): string {
  if (endingTokenId(message) !== null) {
    const end = new Date(message.periodStart)
      .toISOString()
      .replace(/:\d\d\.\d{3}Z$/, " UTC")
      .replace("T", " ");
    const left = message.percent === 1 ? "less than a day" : `less than ${message.percent} days`;
    return `The service token ${message.label} of ${message.workspaceSlug} expires at ${end}, in ${left}. Whatever calls with it fails then: rotate it, with a grace time for the old secret.`;
  }
  const used = `${message.usedUsd.toFixed(2)} of ${message.limitUsd.toFixed(2)} USD`;
  const lead = message.test ? "This is a try of the notice; nothing happened. " : "";
  return `${lead}The budget of ${message.label} has reached ${message.percent} %: ${used} are used.`;
}
