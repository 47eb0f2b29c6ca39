import { remarkSentence } from "@sluice/contract/words";
import {
  bounds,
  type ConfigSnapshot,
  LastingFault,
  type LimitScope,
  personScopeId,
  tokenEndingName,
} from "#core/index.ts";
import type { ControlStore, Crossing, DueNotice, EndingToken, NoticeStore, StoredNotice } from "#directory/index.ts";
import { type Admission, type LimitUsage, periodStart } from "#limits/index.ts";
import type { Clock, Leadership, Observer } from "#ports/index.ts";
import { limitScopes, type ScopeStores, shownScopeId } from "./limit-scopes.ts";
import type { NoticeSender } from "./notice-sender.ts";

/** Sent notices are remembered for longer than any budget period that ends. How often older ones are deleted. */
const noticeToldKeptMs = 92 * 86_400_000;
const noticePruneMs = 6 * 3_600_000;

interface NoticeWatchOptions extends ScopeStores {
  readonly store: NoticeStore;
  readonly controlStore: Pick<ControlStore, "limitedKeys" | "endingTokens">;
  readonly sender: NoticeSender;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Makes sure that one process at a time checks budgets. Absent: this process checks them. */
  readonly leadership?: Pick<Leadership, "once">;
}

/**
 * Checks budgets, and service tokens that expire soon, at intervals and sends the notices that are due. A crossing is stored before
 * its notice is sent, so that whichever process finds it sends it once per period, and repeats it after a failure until it gives up.
 */
export class NoticeWatch {
  readonly #options: NoticeWatchOptions;
  readonly #stopped = new AbortController();
  #cancel = (): void => {};
  #running: Promise<void> = Promise.resolve();
  readonly #unseen: LastingFault;
  #prunedMs = Number.NEGATIVE_INFINITY;
  /** Crossings that this process has stored; they stay crossed for the rest of their period. */
  readonly #written = new Set<string>();

  constructor(options: NoticeWatchOptions) {
    this.#options = options;
    const { clock, observer } = options;
    const fault = "Budgets could not be looked at.";
    this.#unseen = new LastingFault({ clock, observer, level: "warn", fault, over: "Budgets are looked at again." });
  }

  start(): void {
    this.#later();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel();
    await this.#running;
  }

  /** Checks once, and sends everything that is due. */
  async look(): Promise<void> {
    const { store, clock } = this.#options;
    const notices = await store.list(null);
    if (notices.length === 0) return;
    const now = clock.now();
    await this.#prune(now);
    const crossings = crossingsOf(notices, await this.#limitUsages(notices), now);
    await this.#write([...crossings, ...tokenEndings(notices, await this.#endingTokens(notices, now), now)], now);
    const due = await store.due(now, bounds.noticeLeaseMs, bounds.noticesAtOnceMax);
    const byId = new Map(notices.map((notice) => [notice.id, notice]));
    await Promise.all(due.map((each) => this.#tell(each, byId.get(each.noticeId))));
  }

  async #write(crossings: Parameters<NoticeStore["cross"]>[0], now: number): Promise<void> {
    const nameOf = ({ noticeId, budget, periodStart, percent }: Crossing): string =>
      `${noticeId} ${periodStart} ${percent} ${budget}`;
    const news = crossings.filter((crossing) => !this.#written.has(nameOf(crossing)));
    if (news.length === 0) return;
    await this.#options.store.cross(news, now);
    if (this.#written.size + news.length > bounds.noticesWrittenMax) this.#written.clear();
    for (const crossing of news) this.#written.add(nameOf(crossing));
  }

  async #prune(now: number): Promise<void> {
    const { store, clock } = this.#options;
    if (clock.monotonic() - this.#prunedMs < noticePruneMs) return;
    this.#prunedMs = clock.monotonic();
    await store.prune(now - noticeToldKeptMs);
  }

  async #endingTokens(notices: readonly StoredNotice[], now: number): Promise<readonly EndingToken[]> {
    const places = new Set(notices.filter(({ enabled }) => enabled).map(({ workspaceId }) => workspaceId));
    const { controlStore } = this.#options;
    return await controlStore.endingTokens([...places], now, tokensUntil(now), bounds.tokensEndingMax);
  }

  async #limitUsages(notices: readonly StoredNotice[]): Promise<readonly WatchedLimit[]> {
    const { configSnapshot, admission } = this.#options;
    const snapshot = configSnapshot();
    const limitUsages: WatchedLimit[] = [];
    for (const workspaceId of new Set(notices.filter(({ enabled }) => enabled).map((notice) => notice.workspaceId))) {
      const workspace = snapshot.workspaces.get(workspaceId);
      if (workspace === undefined) continue;
      const { scopes } = await limitScopes({ workspace }, snapshot, this.#options);
      const here = notices.filter((notice) => notice.workspaceId === workspaceId);
      const named = [...(await this.#namedKeys(here, scopes)), ...(await this.#namedPeople(here, scopes))];
      for (const limitUsage of await admission.limitUsages([...scopes, ...named]))
        limitUsages.push({ ...limitUsage, workspaceId });
    }
    return limitUsages;
  }

  /** Keys that a notice names and that are not on the first page of keys with limits. */
  async #namedKeys(notices: readonly StoredNotice[], known: readonly LimitScope[]): Promise<readonly LimitScope[]> {
    const ids = new Set(notices.filter(({ scope }) => scope === "key").map((notice) => notice.scope_id));
    for (const scope of known) ids.delete(scope.id);
    const found: LimitScope[] = [];
    for (const keyId of ids) {
      if (keyId === null) continue;
      const [key] = await this.#options.controlStore.limitedKeys({ workspaceId: null, keyId }, 1);
      if (key !== undefined) found.push(key.scope);
    }
    return found;
  }

  /** People, likewise. */
  async #namedPeople(notices: readonly StoredNotice[], known: readonly LimitScope[]): Promise<readonly LimitScope[]> {
    const ids = new Set(known.map(({ id }) => id));
    const found: LimitScope[] = [];
    for (const { workspaceId, scope, scope_id: userId } of notices) {
      if (scope !== "person" || userId === null || ids.has(personScopeId(workspaceId, userId))) continue;
      ids.add(personScopeId(workspaceId, userId));
      const filter = { workspaceId, userIds: [userId] };
      for (const person of await this.#options.people.limitedPeople(filter, 1)) found.push(person.scope);
    }
    return found;
  }

  async #tell(due: DueNotice, notice: StoredNotice | undefined): Promise<void> {
    const { store, sender, configSnapshot, clock, observer } = this.#options;
    const tries = due.tries + 1;
    if (notice === undefined || !notice.enabled) {
      await store.tried(due, {
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
    await store.tried(due, { tries, dueAt: again, sentAt: problem === null ? now : null, problem });
    if (problem !== null && again === null) {
      observer.log("warn", "A notice on a budget could not be sent.", { notice: notice.id, problem });
    }
  }

  async #lookInTurn(): Promise<void> {
    const { leadership, store } = this.#options;
    if (leadership === undefined) await this.look();
    // Without notices there is nothing to check.
    else if ((await store.list(null)).length > 0) await leadership.once("notices", () => this.look());
  }

  #later(): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancel = this.#options.clock.after(bounds.noticeLookMs, () => {
      this.#running = this.#lookInTurn()
        .then(
          () => this.#unseen.passed(),
          (thrown: unknown) => this.#unseen.failed({ error: thrown }),
        )
        .then(() => this.#later());
    });
  }
}

const dayMs = 86_400_000;

/** Tokens that expire before this time (Unix milliseconds) are due for a notice. */
function tokensUntil(nowMs: number): number {
  return nowMs + Math.max(...bounds.tokenNoticeDays) * dayMs;
}

/**
 * Service tokens that expire soon, as crossings of the days that are left (`percent`), for each notice that covers them. A token whose
 * expiry changed gets a new notice.
 */
function tokenEndings(
  notices: readonly StoredNotice[],
  tokens: readonly EndingToken[],
  nowMs: number,
): readonly (Crossing & { readonly silent: boolean })[] {
  const endings: (Crossing & { readonly silent: boolean })[] = [];
  for (const notice of notices) {
    if (!notice.enabled) continue;
    for (const token of tokens.filter((each) => listensTo(notice, each))) {
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

function listensTo({ workspaceId, scope, scope_id }: StoredNotice, token: EndingToken): boolean {
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
): readonly (Crossing & { readonly silent: boolean })[] {
  const crossings: (Crossing & { readonly silent: boolean })[] = [];
  for (const notice of notices) {
    if (!notice.enabled) continue;
    for (const limitUsage of limitUsages) {
      if (limitUsage.name !== "budget" || limitUsage.period === null || !listens(notice, limitUsage)) continue;
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

function listens(notice: StoredNotice, limitUsage: WatchedLimit): boolean {
  if (notice.workspaceId !== limitUsage.workspaceId) return false;
  if (notice.scope === null) return true;
  return (
    notice.scope === limitUsage.scope && (notice.scope_id === null || notice.scope_id === shownScopeId(limitUsage))
  );
}
