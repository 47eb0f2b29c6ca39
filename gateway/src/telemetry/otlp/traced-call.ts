import { BoundedMap, bounds, type LedgerEntry, type Principal } from "#core/index.ts";

/** What the attempts of a call add up to, for the span of the whole call. */
export interface CallFacts {
  workspaceId: string;
  groupId: string;
  keyId: string;
  userAgent: string;
  model: string;
  stream: boolean;
  attempts: number;
  costNanoUsd: number;
  /** Unix milliseconds with fractions: no span of a call may stick out of it. */
  startMs: number;
  endMs: number;
  /** How the last attempt failed; null: it did not. */
  errorType: string | null;
  isBroken: boolean;
}

/** Attempts come before the end of their call, but maybe in an earlier batch. */
export class TracedCalls {
  readonly #calls = new Map<string, CallFacts>();

  /** Of every settled attempt and refusal, in their order. */
  add(entry: LedgerEntry, errorType: string | null): void {
    const isAttempt = entry.outcome !== "rejected";
    const endMs = entry.at + (isAttempt ? entry.totalMs : 0);
    const known = this.#calls.get(entry.requestId);
    if (known === undefined) {
      if (this.#calls.size >= bounds.tracedCallsMax) this.#dropOldest();
      this.#calls.set(entry.requestId, {
        workspaceId: entry.workspaceId,
        groupId: entry.groupId,
        keyId: entry.keyId,
        userAgent: entry.userAgent,
        model: entry.requestedModel,
        stream: entry.stream,
        attempts: isAttempt ? 1 : 0,
        costNanoUsd: entry.costNanoUsd,
        startMs: entry.at,
        endMs,
        errorType,
        isBroken: entry.outcome === "interrupted" || entry.outcome === "failed",
      });
      return;
    }
    if (isAttempt) known.attempts++;
    known.costNanoUsd += entry.costNanoUsd;
    known.startMs = Math.min(known.startMs, entry.at);
    known.endMs = Math.max(known.endMs, endMs);
    known.errorType = errorType;
    known.isBroken = entry.outcome === "interrupted" || entry.outcome === "failed";
  }

  take(requestId: string): CallFacts | null {
    const facts = this.#calls.get(requestId) ?? null;
    if (facts !== null) this.#calls.delete(requestId);
    return facts;
  }

  #dropOldest(): void {
    for (const oldest of this.#calls.keys()) {
      this.#calls.delete(oldest);
      return;
    }
  }
}

/** Names of keys, learned from the calls themselves: nothing is asked of the database. */
export class TracedKeys {
  readonly #principals = new BoundedMap<string, Principal>(bounds.tracedKeysMax);
  /** The next one is often the same. */
  #last: Principal | null = null;

  learn(principal: Principal): void {
    if (this.#last === principal) return;
    this.#last = principal;
    if (this.#principals.peek(principal.key.id) !== principal) this.#principals.set(principal.key.id, principal);
  }

  of(keyId: string): Principal | null {
    if (this.#last?.key.id === keyId) return this.#last;
    return this.#principals.peek(keyId) ?? null;
  }
}
