import { BoundedMap, bounds, sleep, type Task, type TaskAccount, throwIfGone } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { TaskStore } from "../store/task-store.ts";
import { videoKindOf } from "../video-lane-match.ts";

/** A poll whose turn is nearer than this waits in memory. */
const taskSlotWaitMs = 1_000;

export interface AccountRatesOptions {
  readonly store: Pick<TaskStore, "takePoll">;
  readonly clock: Clock;
}

/**
 * How often one account is asked about its tasks, by all processes of the installation together: the pace stands in the store. Polls
 * stand in a row with equal distances; a task that gets a place far ahead comes back then and finds its place kept, so that nobody
 * is passed over however many tasks there are.
 */
export class AccountRates {
  readonly #store: AccountRatesOptions["store"];
  readonly #clock: Clock;
  /** Monotonic milliseconds before which an account has no spare poll, as far as this process knows: its callers ask often. */
  readonly #busyUntil = new BoundedMap<string, number>(bounds.taskAccountsMax);

  constructor({ store, clock }: AccountRatesOptions) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Null when the poll may be made now, after a wait if need be; else when the task has its place. Throws client_closed. */
  async turn(
    { dueAt, placeAt = null }: Pick<Task, "dueAt" | "placeAt">,
    account: TaskAccount,
    signal: AbortSignal,
  ): Promise<number | null> {
    const stepMs = stepMsOf(account);
    // Somebody wants it looked at sooner than its place is.
    if (placeAt !== null && placeAt > this.#clock.now()) return (await this.spare(account)) ? null : placeAt;
    let kind: "new" | "placed" = placeAt !== null && placeAt === dueAt ? "placed" : "new";
    for (;;) {
      const now = this.#clock.now();
      const at = await this.#store.takePoll({
        account: nameOf(account),
        now,
        stepMs,
        nearMs: taskSlotWaitMs,
        kind,
      });
      const waitMs = Math.max(0, (at ?? now) - now);
      if (waitMs > taskSlotWaitMs) return at;
      const untilMs = this.#clock.monotonic() + waitMs;
      if (waitMs > 0) {
        await sleep(this.#clock, waitMs, signal);
        throwIfGone(signal);
      }
      // A process that stood still meanwhile would poll in somebody else's time.
      if (this.#clock.monotonic() - untilMs < stepMs) return null;
      kind = "placed";
    }
  }

  /** For a poll that nobody waits for long: false when there is none free at once. */
  async spare(account: TaskAccount): Promise<boolean> {
    const name = nameOf(account);
    if ((this.#busyUntil.get(name) ?? 0) > this.#clock.monotonic()) return false;
    const stepMs = stepMsOf(account);
    const at = await this.#store.takePoll({ account: name, now: this.#clock.now(), stepMs, nearMs: 0, kind: "spare" });
    if (at === null) this.#busyUntil.set(name, this.#clock.monotonic() + stepMs);
    return at !== null;
  }
}

const pollsPerSecondUsual = 5;

function stepMsOf({ kind }: TaskAccount): number {
  return 1_000 / Math.max(0.01, videoKindOf(kind)?.adapter.pollsPerSecond ?? pollsPerSecondUsual);
}

function nameOf({ providerId, baseUrl }: TaskAccount): string {
  return `${providerId}\n${baseUrl}`;
}
