import { BoundedMap, bounds, type LedgerEntry } from "#core/index.ts";

/** Sums over the attempts of a call, for the span of the whole call. */
export interface CallTotals {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userAgent: string;
  readonly stream: boolean;
  attempts: number;
  costNanoUsd: number;
  /** Unix milliseconds with fractions. The span of the call must contain those of its attempts. */
  startMs: number;
  endMs: number;
  /** Error of the last attempt; null if it succeeded. */
  errorType: string | null;
  isBroken: boolean;
}

/** Collects totals until the call ends. Attempts come before the end of their call. */
export class OpenCalls {
  readonly #calls = new BoundedMap<string, CallTotals>(bounds.tracedCallsMax);

  /** Call it for every settled attempt and refusal, in their order. */
  add(entry: LedgerEntry, errorType: string | null): void {
    const isAttempt = entry.outcome !== "rejected";
    const endMs = entry.at + (isAttempt ? entry.totalMs : 0);
    const { requestId } = entry;
    let totals = this.#calls.peek(requestId);
    if (totals === undefined) {
      totals = {
        workspaceId: entry.workspaceId,
        keyId: entry.keyId,
        userAgent: entry.userAgent,
        stream: entry.stream,
        attempts: 0,
        costNanoUsd: 0,
        startMs: entry.at,
        endMs,
        errorType,
        isBroken: false,
      };
      this.#calls.set(requestId, totals);
    }
    if (isAttempt) totals.attempts++;
    totals.costNanoUsd += entry.costNanoUsd;
    totals.startMs = Math.min(totals.startMs, entry.at);
    totals.endMs = Math.max(totals.endMs, endMs);
    totals.errorType = errorType;
    totals.isBroken = entry.outcome === "interrupted" || entry.outcome === "failed";
  }

  /** Removes and returns the totals; null if the call had no attempt. */
  take(requestId: string): CallTotals | null {
    const totals = this.#calls.peek(requestId);
    if (totals !== undefined) this.#calls.delete(requestId);
    return totals ?? null;
  }
}
