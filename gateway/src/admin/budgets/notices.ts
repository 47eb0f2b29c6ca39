import type { NoticeChannel } from "@sluice/contract";
import { remarkSentence } from "@sluice/contract/words";
import {
  asFailure,
  bounds,
  type ConfigSnapshot,
  endingTokenId,
  LastingFault,
  type LimitScope,
  personScopeId,
  tokenEndingName,
} from "#core/index.ts";
import type { ControlStore, Crossing, DueNotice, ExpiringToken, NoticeStore, StoredNotice } from "#directory/index.ts";
import { type Admission, type LimitUsage, periodStart } from "#limits/index.ts";
import type { Clock, Leadership, Mailer, Observer, Transport } from "#ports/index.ts";
import { webhookHeaders, webhookProblem } from "#tasks/index.ts";
import { limitScopes, publicScopeId, type ScopeStores } from "./limit-scopes.ts";

/** Sent notices are remembered for longer than any budget period that ends. How often older ones are deleted. */
const sentNoticeRetentionMs = 92 * 86_400_000;
const noticePruneMs = 6 * 3_600_000;

interface NoticeWatchOptions extends ScopeStores {
  readonly store: NoticeStore;
  readonly controlStore: Pick<ControlStore, "limitedKeys" | "expiringTokens">;
  readonly sender: NoticeSender;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Makes sure that one process at a time checks budgets. Absent: this process checks them. */
  readonly leadership?: Pick<Leadership, "once">;
}

/**
 * Checks budgets and expiring service tokens at intervals, and sends notices. A crossing is stored before its notice is sent, so that it is
 * sent once per period, by any process, and retried a limited number of times.
 */
export class NoticeWatch {
  readonly #options: NoticeWatchOptions;
  readonly #stopped = new AbortController();
  #cancel = (): void => {};
  #running: Promise<void> = Promise.resolve();
  readonly #fault: LastingFault;
  #prunedMs = Number.NEGATIVE_INFINITY;
  /** Crossings that this process has stored; they stay crossed for the rest of their period. */
  readonly #written = new Set<string>();

  constructor(options: NoticeWatchOptions) {
    this.#options = options;
    const { clock, observer } = options;
    this.#fault = new LastingFault({
      clock,
      observer,
      level: "warn",
      fault: "failed to check budgets for notices; retrying",
      over: "budgets are checked for notices again",
    });
  }

  start(): void {
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel();
    await this.#running;
  }

  /** Checks once, and sends everything that is due. */
  async check(): Promise<void> {
    const { store, controlStore, clock } = this.#options;
    const notices = await store.list(null);
    if (notices.length === 0) return;
    const now = clock.now();
    await this.#prune(now);
    const enabled = notices.filter((notice) => notice.enabled);
    const places = [...new Set(enabled.map(({ workspaceId }) => workspaceId))];
    const crossings = crossingsOf(enabled, await this.#limitUsages(enabled, places), now);
    // Tokens that expire before this are due for a notice.
    const tokensUntil = now + Math.max(...bounds.tokenNoticeDays) * dayMs;
    const tokens = await controlStore.expiringTokens(places, now, tokensUntil, bounds.tokensEndingMax);
    await this.#write([...crossings, ...tokenEndings(enabled, tokens, now)], now);
    const due = await store.leaseDue(now, bounds.noticeLeaseMs, bounds.noticesAtOnceMax);
    const byId = new Map(notices.map((notice) => [notice.id, notice]));
    await Promise.all(due.map((each) => this.#send(each, byId.get(each.noticeId))));
  }

  async #write(crossings: readonly NewCrossing[], now: number): Promise<void> {
    const nameOf = ({ noticeId, budget, periodStart, percent }: Crossing): string =>
      `${noticeId} ${periodStart} ${percent} ${budget}`;
    const news = crossings.filter((crossing) => !this.#written.has(nameOf(crossing)));
    if (news.length === 0) return;
    await this.#options.store.recordCrossings(news, now);
    if (this.#written.size + news.length > bounds.noticesWrittenMax) this.#written.clear();
    for (const crossing of news) this.#written.add(nameOf(crossing));
  }

  async #prune(now: number): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.monotonic() - this.#prunedMs < noticePruneMs) return;
    this.#prunedMs = clock.monotonic();
    await store.prune(now - sentNoticeRetentionMs);
  }

  async #limitUsages(notices: readonly StoredNotice[], places: readonly string[]): Promise<readonly WatchedLimit[]> {
    const { configSnapshot, admission } = this.#options;
    const snapshot = configSnapshot();
    const limitUsages: WatchedLimit[] = [];
    for (const workspaceId of places) {
      const workspace = snapshot.workspaces.get(workspaceId);
      if (workspace === undefined) continue;
      const { scopes } = await limitScopes({ workspace }, snapshot, this.#options);
      const here = notices.filter((notice) => notice.workspaceId === workspaceId);
      const all = [...scopes, ...(await this.#namedScopes(here, scopes))];
      for (const limitUsage of await admission.limitUsages(all)) limitUsages.push({ ...limitUsage, workspaceId });
    }
    return limitUsages;
  }

  /** Keys and people that a notice names and that are not on the first page of those with limits. */
  async #namedScopes(notices: readonly StoredNotice[], known: readonly LimitScope[]): Promise<readonly LimitScope[]> {
    const { controlStore, people } = this.#options;
    const ids = new Set(known.map(({ id }) => id));
    const found: LimitScope[] = [];
    for (const { workspaceId, scope, scope_id: id } of notices) {
      if (id === null || (scope !== "key" && scope !== "person")) continue;
      const scopeId = scope === "key" ? id : personScopeId(workspaceId, id);
      if (ids.has(scopeId)) continue;
      ids.add(scopeId);
      const [one] =
        scope === "key"
          ? await controlStore.limitedKeys({ workspaceId: null, keyId: id }, 1)
          : await people.limitedPeople({ workspaceId, userIds: [id] }, 1);
      if (one !== undefined) found.push(one.scope);
    }
    return found;
  }

  async #send(due: DueNotice, notice: StoredNotice | undefined): Promise<void> {
    const { store, sender, configSnapshot, clock, observer } = this.#options;
    const tries = due.tries + 1;
    if (notice === undefined || !notice.enabled) {
      await store.recordSend(due, {
        tries,
        dueAt: null,
        sentAt: null,
        problem: remarkSentence("alert", { code: "switched_off", params: {} }),
      });
      return;
    }
    const workspaceSlug = configSnapshot().workspaces.get(notice.workspaceId)?.slug ?? notice.workspaceId;
    const message = { ...due, workspaceId: notice.workspaceId, workspaceSlug, noticeName: notice.name, test: false };
    const problem = await sender.send(notice.channel, message, this.#stopped.signal);
    // Our shutdown interrupted it; the next process tries again.
    if (this.#stopped.signal.aborted && problem !== null) return;
    const now = clock.now();
    const again = problem !== null && tries < bounds.noticeTriesMax ? now + 30_000 * 4 ** (tries - 1) : null;
    await store.recordSend(due, { tries, dueAt: again, sentAt: problem === null ? now : null, problem });
    if (problem !== null && again === null) {
      observer.log("warn", "failed to send a budget notice", { notice: notice.id, problem });
    }
  }

  async #checkAsLeader(): Promise<void> {
    const { leadership, store } = this.#options;
    if (leadership === undefined) await this.check();
    // Without notices there is nothing to check.
    else if ((await store.list(null)).length > 0) await leadership.once("notices", () => this.check());
  }

  #schedule(): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancel = this.#options.clock.after(bounds.noticeCheckMs, () => {
      this.#running = this.#checkAsLeader()
        .then(
          () => this.#fault.succeeded(),
          (thrown: unknown) => this.#fault.failed({ error: thrown }),
        )
        .then(() => this.#schedule());
    });
  }
}

const dayMs = 86_400_000;

type NewCrossing = Parameters<NoticeStore["recordCrossings"]>[0][number];

/**
 * Service tokens that expire soon, as crossings for each notice that covers them; `percent` is the number of days left. A changed expiry
 * causes a new notice.
 */
function tokenEndings(
  notices: readonly StoredNotice[],
  tokens: readonly ExpiringToken[],
  nowMs: number,
): readonly NewCrossing[] {
  const endings: NewCrossing[] = [];
  for (const notice of notices) {
    for (const token of tokens.filter((each) => coversToken(notice, each))) {
      const reached = bounds.tokenNoticeDays.filter((days) => token.expiresAt - nowMs <= days * dayMs);
      for (const days of reached) {
        endings.push({
          noticeId: notice.id,
          budget: tokenEndingName(token.keyId),
          periodStart: token.expiresAt,
          percent: days,
          label: token.name,
          usedUsd: 0,
          limitUsd: 0,
          silent: days !== Math.min(...reached),
        });
      }
    }
  }
  return endings;
}

function coversToken({ workspaceId, scope, scope_id }: StoredNotice, token: ExpiringToken): boolean {
  if (workspaceId !== token.workspaceId) return false;
  return scope === null || (scope === "key" && (scope_id === null || scope_id === token.keyId));
}

/** The budgets that one notice covers, and their state in each workspace. */
interface WatchedLimit extends LimitUsage {
  readonly workspaceId: string;
}

/**
 * The crossed thresholds, by notice, budget and share. When one check finds several shares of a budget crossed, only the highest is
 * sent; the lower ones are stored as `silent`.
 */
function crossingsOf(
  notices: readonly StoredNotice[],
  limitUsages: readonly WatchedLimit[],
  nowMs: number,
): readonly NewCrossing[] {
  const crossings: NewCrossing[] = [];
  for (const notice of notices) {
    for (const limitUsage of limitUsages) {
      if (limitUsage.name !== "budget" || limitUsage.period === null || !covers(notice, limitUsage)) continue;
      const { used, held = 0, limit } = limitUsage;
      // A budget of 0 is used up from the start, which is no news. A budget that cannot be read now is checked again later.
      if (limit <= 0 || used === null) continue;
      const spent = used - held;
      const reached = notice.percent.filter((percent) => spent >= (limit * percent) / 100);
      const highest = Math.max(...reached);
      for (const percent of reached) {
        crossings.push({
          noticeId: notice.id,
          budget: `${limitUsage.scope} ${limitUsage.scopeId} ${limitUsage.period} ${limitUsage.limit}`,
          periodStart: periodStart(limitUsage.period, nowMs),
          percent,
          label: `${limitUsage.label}, per ${limitUsage.period}`,
          usedUsd: spent,
          limitUsd: limit,
          silent: percent !== highest,
        });
      }
    }
  }
  return crossings;
}

function covers(notice: StoredNotice, limitUsage: WatchedLimit): boolean {
  if (notice.workspaceId !== limitUsage.workspaceId) return false;
  if (notice.scope === null) return true;
  return (
    notice.scope === limitUsage.scope && (notice.scope_id === null || notice.scope_id === publicScopeId(limitUsage))
  );
}

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
  /** Sent by hand as a test. */
  readonly test: boolean;
}

/** Sends one message. Resolves to the problem as text; null: it was accepted. */
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
        // Channel addresses must not reach our own network, except what an administrator has allowed.
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

/** `text` (Slack, Mattermost) and `content` (Discord) are shown by chats; the rest is for programs. */
function bodyOf(message: NoticeMessage, now: number) {
  const sentence = sentenceOf(message);
  const common = { timestamp: new Date(now).toISOString(), text: sentence, content: sentence };
  const tokenId = endingTokenId(message);
  if (tokenId !== null) {
    return {
      type: "service_token.expires",
      ...common,
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
    ...common,
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
  return `Sluice: ${message.test ? "test: " : ""}${message.label} has used ${message.percent} % of its budget`;
}

function sentenceOf(message: NoticeMessage): string {
  if (endingTokenId(message) !== null) {
    const end = new Date(message.periodStart)
      .toISOString()
      .replace(/:\d\d\.\d{3}Z$/, " UTC")
      .replace("T", " ");
    const left = message.percent === 1 ? "less than a day" : `less than ${message.percent} days`;
    return `The service token ${message.label} of ${message.workspaceSlug} expires at ${end}, in ${left}. Calls with it will then fail. Rotate it, with a grace period for the old secret.`;
  }
  const used = `${message.usedUsd.toFixed(2)} of ${message.limitUsd.toFixed(2)} USD`;
  const lead = message.test ? "This is a test. Nothing happened. " : "";
  return `${lead}The budget of ${message.label} has reached ${message.percent} %: ${used} are used.`;
}
