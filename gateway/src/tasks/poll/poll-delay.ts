import type { Task } from "#core/index.ts";

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
