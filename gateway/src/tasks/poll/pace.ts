import { BoundedMap, bounds, sleep, type Task, type TaskAccount, throwIfGone } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { TaskStore } from "../store/task-store.ts";

/** If the slot is closer than this, the process waits for it in memory. */
const taskSlotWaitMs = 1_000;
/** Five polls a second per account. */
const stepMs = 200;

/**
 * Limits how often one account is polled, across all processes: slots at equal distances are reserved in the store. A task
 * with a distant slot becomes due at that slot and keeps it, so every task gets its turn.
 *
 * new: reserves the next slot. placed: the reserved slot has come. spare: polls now if no other task has a slot now.
 */
export class PollPacer {
  readonly #store: Pick<TaskStore, "reservePoll">;
  readonly #clock: Clock;
  /** Per account, the monotonic time until which this process expects no spare slot. */
  readonly #busyUntil = new BoundedMap<string, number>(bounds.taskAccountsMax);

  constructor({ store, clock }: Pick<VideoTasksOptions, "store" | "clock">) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Null: poll now. Otherwise the time of the task's slot. Waits for a near slot. Throws client_closed. */
  async waitForTurn(
    { dueAt, placeAt = null }: Pick<Task, "dueAt" | "placeAt">,
    account: TaskAccount,
    signal: AbortSignal,
  ): Promise<number | null> {
    // The task was made due before its slot.
    if (placeAt !== null && placeAt > this.#clock.now()) return (await this.trySpare(account)) ? null : placeAt;
    let kind: "new" | "placed" = placeAt !== null && placeAt === dueAt ? "placed" : "new";
    for (;;) {
      const now = this.#clock.now();
      const at = await this.#store.reservePoll({
        account: accountKey(account),
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
      // After a suspended process the slot may have passed to another task.
      if (this.#clock.monotonic() - untilMs < stepMs) return null;
      kind = "placed";
    }
  }

  /** Returns false if no slot is free now. */
  async trySpare(account: TaskAccount): Promise<boolean> {
    const name = accountKey(account);
    if ((this.#busyUntil.get(name) ?? 0) > this.#clock.monotonic()) return false;
    const at = await this.#store.reservePoll({
      account: name,
      now: this.#clock.now(),
      stepMs,
      nearMs: 0,
      kind: "spare",
    });
    if (at === null) this.#busyUntil.set(name, this.#clock.monotonic() + stepMs);
    return at !== null;
  }
}

function accountKey({ providerId, baseUrl }: TaskAccount): string {
  return `${providerId}\n${baseUrl}`;
}

/**
 * Delay to the next poll: 3 seconds at first, a tenth of the task's age later, at most 30 seconds; longer for tasks of
 * hours. A clip takes about 100 seconds, so a dozen polls. `unit` is the jitter, 0 to 1.
 */
export function pollDelayMs(task: Task, now: number, unit: number): number {
  return Math.round(baseDelayMs(task, now) * (0.85 + 0.3 * unit));
}

/** The delay without jitter, which is also the age at which a stored state counts as stale. */
export function baseDelayMs(task: Task, now: number): number {
  const ageMs = Math.max(0, now - (task.submittedAt ?? task.createdAt));
  const slow = slowSteps.find(([fromMs]) => ageMs >= fromMs)?.[1];
  if (slow !== undefined) return slow;
  const delayMs = Math.min(30_000, Math.max(3_000, ageMs / 10));
  return task.state === "unknown" || isFlexTier(task) ? Math.max(15_000, 2 * delayMs) : delayMs;
}

const slowSteps: readonly (readonly [fromMs: number, delayMs: number])[] = [
  [12 * 3_600_000, 300_000],
  [2 * 3_600_000, 120_000],
  [30 * 60_000, 60_000],
];

/** Ark's discounted tier takes hours. Long bodies are not searched. */
function isFlexTier(task: Task): boolean {
  return task.request.length <= 65_536 && /"service_tier"\s*:\s*"flex"/.test(task.request);
}
