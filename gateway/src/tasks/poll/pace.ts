import { BoundedMap, bounds, sleep, type Task, type TaskAccount, throwIfGone } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { TaskStep } from "../store/task-rows.ts";
import type { TaskStore } from "../store/task-store.ts";
import type { TaskPass } from "../task-pass.ts";

/** A poll whose turn is nearer than this waits in memory. */
const taskSlotWaitMs = 1_000;
/** Between two polls of one account: five a second. */
const stepMs = 200;

/**
 * How often one account is asked about its tasks, by all processes of the installation together: the pace stands in the store. Polls
 * stand in a row with equal distances; a task that gets a place far ahead comes back then and finds its place kept, so that nobody
 * is passed over however many tasks there are.
 */
export class AccountRates {
  readonly #store: Pick<TaskStore, "takePoll">;
  readonly #clock: Clock;
  /** Monotonic milliseconds before which an account has no spare poll, as far as this process knows: its callers ask often. */
  readonly #busyUntil = new BoundedMap<string, number>(bounds.taskAccountsMax);

  constructor({ store, clock }: Pick<VideoTasksOptions, "store" | "clock">) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Null when the poll may be made now, after a wait if need be; else when the task has its place. Throws client_closed. */
  async turn(
    { dueAt, placeAt = null }: Pick<Task, "dueAt" | "placeAt">,
    account: TaskAccount,
    signal: AbortSignal,
  ): Promise<number | null> {
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
    const at = await this.#store.takePoll({ account: name, now: this.#clock.now(), stepMs, nearMs: 0, kind: "spare" });
    if (at === null) this.#busyUntil.set(name, this.#clock.monotonic() + stepMs);
    return at !== null;
  }
}

function nameOf({ providerId, baseUrl }: TaskAccount): string {
  return `${providerId}\n${baseUrl}`;
}

/**
 * How long until the next poll of a task, by how long the upstream has had it: 3 seconds at first, a tenth of its age later,
 * 30 seconds at most; slower again for what takes hours. A clip takes about 100 seconds, so most need about a dozen polls.
 * `unit` spreads polls that were begun together.
 */
export function pollDelayMs(task: Task, now: number, unit: number): number {
  return Math.round(steadyDelayMs(task, now) * (0.85 + 0.3 * unit));
}

/** The same without the spread: what a state may be old before it is stale, and what callers are told. */
export function steadyDelayMs(task: Task, now: number): number {
  const ageMs = Math.max(0, now - (task.submittedAt ?? task.createdAt));
  const slow = slowSteps.find(([fromMs]) => ageMs >= fromMs)?.[1];
  if (slow !== undefined) return slow;
  const delayMs = Math.min(30_000, Math.max(3_000, ageMs / 10));
  return task.state === "unknown" || isPatient(task) ? Math.max(15_000, 2 * delayMs) : delayMs;
}

const slowSteps: readonly (readonly [fromMs: number, delayMs: number])[] = [
  [12 * 3_600_000, 300_000],
  [2 * 3_600_000, 120_000],
  [30 * 60_000, 60_000],
];

/** Ark's cheap tier works when nobody else wants to, over hours. A long body is not searched for the word each time. */
function isPatient(task: Task): boolean {
  return task.request.length <= 65_536 && /"service_tier"\s*:\s*"flex"/.test(task.request);
}

/**
 * The next poll, at the deadline at the latest. `retryAfterMs`: what the vendor asks for, no more than the time after which a
 * task counts as gone; `mostMs`: it is polled again within so long.
 */
export async function pollAgain(
  { clock, chance }: Pick<VideoTasksOptions, "clock" | "chance">,
  pass: TaskPass,
  step: TaskStep = {},
  { retryAfterMs = 0, mostMs = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const { task } = pass;
  const now = clock.now();
  const waitMs = Math.max(pollDelayMs(task, now, chance.unit()), Math.min(retryAfterMs, bounds.taskGoneMs));
  await pass.leave({
    dueAt: Math.min(now + Math.min(mostMs, waitMs), task.deadlineAt),
    polls: task.polls + 1,
    ...step,
  });
}

/** How long, and how often, a silent vendor is asked about a task past its deadline. */
const taskUnansweredMs = 600_000;
const taskUnansweredPollMs = 30_000;

/**
 * After a task's deadline its vendor did not answer: is it asked again? A look that failed says nothing of the task, and the
 * first one after hours away is often made on a machine that has much to do, so it is asked for ten minutes more. They count
 * from the first such look, and anew when nobody has looked for so long.
 */
export async function askAgain(
  { clock, chance }: Pick<VideoTasksOptions, "clock" | "chance">,
  pass: TaskPass,
  retryAfterMs = 0,
): Promise<boolean> {
  const { task } = pass;
  const now = clock.now();
  const wasAway = now - (task.dueAt ?? now) >= taskUnansweredMs;
  const since = wasAway ? now : (task.unansweredSince ?? now);
  const endsAt = since + taskUnansweredMs;
  if (now >= endsAt) return false;
  const delayMs = Math.max(taskUnansweredPollMs * (0.85 + 0.3 * chance.unit()), retryAfterMs);
  await pass.leave({
    dueAt: Math.min(Math.round(now + delayMs), endsAt),
    polls: task.polls + 1,
    unansweredSince: since,
  });
  return true;
}
