import type { AlertTarget } from "@sluice/contract/console";
import { type ConsoleLanguage, remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds } from "#core/index.ts";
import type { Clock, Mailer, OpenTries, Transport, Tries } from "#ports/index.ts";
import { webhookHeaders } from "#tasks/index.ts";
import type { AlertSettings, StoredChannel } from "./alert-settings.ts";
import { type AlertMessage, mailOf, requestOf } from "./messages.ts";
import { type ReportMessage, reportMail, reportRequest } from "./reports/report-messages.ts";

export interface AlertSenderOptions {
  readonly settings: Pick<AlertSettings, "target" | "languagesOf">;
  readonly transport: Transport;
  /** null: no mail server is configured. */
  readonly mailer: Mailer | null;
  readonly clock: Clock;
  readonly openTries: OpenTries;
  /** null: the installation's secret. */
  readonly webhookSecrets: (workspaceId: string | null) => readonly string[];
}

type Channel = Pick<StoredChannel, "id" | "workspaceId" | "language">;

type Message = AlertMessage | ReportMessage;

/** Sends one message to one channel. Resolves to the problem as text, without secrets; null: it was accepted. */
export class AlertSender {
  readonly #options: AlertSenderOptions;
  readonly #mails: Tries;

  constructor(options: AlertSenderOptions) {
    this.#options = options;
    const windowMs = bounds.mailWindowMs;
    this.#mails = options.openTries({ name: "alert-mail", max: bounds.alertMailsMax, windowMs, windowMsMax: windowMs });
  }

  async send(channel: Channel, message: Message, signal: AbortSignal): Promise<string | null> {
    const target = await this.#options.settings.target(channel.id);
    if (target === null) return remarkSentence("alert", { code: "channel_off", params: {} });
    return target.kind === "email"
      ? await this.#mail(target.to, channel, message)
      : await this.#post(target, channel, message, signal);
  }

  async #mail(to: readonly string[], channel: Channel, message: Message): Promise<string | null> {
    const { mailer, settings } = this.#options;
    if (mailer === null) return remarkSentence("alert", { code: "no_mail_server", params: {} });
    // Admins of a workspace choose addresses and names, and can open an alert again and again.
    if (channel.workspaceId !== null && (await this.#mails.take([channel.workspaceId])).waitMs > 0) {
      return remarkSentence("alert", { code: "too_many_mails", params: {} });
    }
    const own = await settings.languagesOf(to);
    const languages = new Set<ConsoleLanguage>(to.map((address) => own.get(address.toLowerCase()) ?? channel.language));
    try {
      const mail = "content" in message ? reportMail(message, [...languages]) : mailOf(message, [...languages]);
      await mailer.send({ to, ...mail });
      return null;
    } catch (thrown) {
      return asFailure(thrown).message;
    }
  }

  async #post(
    target: Exclude<AlertTarget, { kind: "email" }>,
    channel: Channel,
    message: Message,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { transport, clock, webhookSecrets } = this.#options;
    if ("content" in message && target.kind === "pagerduty") {
      return remarkSentence("alert", { code: "channel_off", params: {} });
    }
    const { url, body } =
      "content" in message
        ? reportRequest(target as Exclude<typeof target, { kind: "pagerduty" }>, message, channel.language)
        : requestOf(target, message, channel.language);
    const text = JSON.stringify(body);
    const signed =
      target.kind === "webhook"
        ? webhookHeaders(message.id, text, webhookSecrets(channel.workspaceId), clock.now())
        : {};
    try {
      const answer = await transport.send(
        {
          method: "POST",
          url,
          headers: { "content-type": "application/json", "user-agent": "sluice", ...signed },
          body: new TextEncoder().encode(text),
          connectMs: bounds.deliveryTotalMs,
          headersMs: bounds.deliveryTotalMs,
          totalMs: bounds.deliveryTotalMs,
          // Addresses must not reach our own network, except what an administrator has allowed.
          allowPrivateNetwork: false,
          webhook: true,
        },
        signal,
      );
      answer.body.cancel();
      const { status } = answer;
      return status >= 200 && status < 300 ? null : remarkSentence("alert", { code: "answered", params: { status } });
    } catch (thrown) {
      // One sentence for all failures to connect: the message of a failure may contain the URL, and would help to scan our network.
      const code = asFailure(thrown).code === "upstream_timeout" ? "timeout" : "unreachable";
      return remarkSentence("alert", { code, params: {} });
    }
  }
}
