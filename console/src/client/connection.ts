import { isAbort, Problem } from "./problem.ts";

/** Errors of a gateway that is down, restarting, or unreachable. */
const lostCodes = new Set(["unreachable", "draining", "http_502", "http_503", "http_504"]);
const retryMs = 1_500;
const retryTimeoutMs = 5_000;

let lost = false;
const listeners = new Set<() => void>();

/** Whether the gateway did not answer last time. Requests are then repeated until it does. */
export function isConnectionLost(): boolean {
  return lost;
}

export function onConnectionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Called with the outcome of every request; null: there was an answer. */
export function reportOutcome(thrown: unknown): void {
  if (isAbort(thrown)) return;
  const isLost = thrown instanceof Problem && lostCodes.has(thrown.code);
  if (isLost) reportLost();
  else setLost(false);
}

export function reportLost(): void {
  if (lost) return;
  setLost(true);
  void retry();
}

/** Resolves when the gateway answers again. */
export function connected(): Promise<void> {
  if (!lost) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = onConnectionChange(() => {
      if (lost) return;
      stop();
      resolve();
    });
  });
}

async function retry(): Promise<void> {
  while (lost) {
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    if (lost && (await answers())) setLost(false);
  }
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch("/readyz", { cache: "no-store", signal: AbortSignal.timeout(retryTimeoutMs) })).ok;
  } catch {
    return false;
  }
}

function setLost(next: boolean): void {
  if (lost === next) return;
  lost = next;
  for (const listener of listeners) listener();
}
