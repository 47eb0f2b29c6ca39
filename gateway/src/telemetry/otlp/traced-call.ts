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
  /** Of the last attempt, behind which the end of its call comes mostly: it stands in no map. */
  #last: CallFacts | null = null;
  #lastId = "";

  /** Of every settled attempt and refusal, in their order. */
  add(entry: LedgerEntry, errorType: string | null): void {
    const isAttempt = entry.outcome !== "rejected";
    const endMs = entry.at + (isAttempt ? entry.totalMs : 0);
    const { requestId } = entry;
    let known = this.#of(requestId);
    if (known === undefined) {
      this.#putAway();
      this.#lastId = requestId;
      known = this.#last = {
        workspaceId: entry.workspaceId,
        groupId: entry.groupId,
        keyId: entry.keyId,
        userAgent: entry.userAgent,
        model: entry.requestedModel,
        stream: entry.stream,
        attempts: 0,
        costNanoUsd: 0,
        startMs: entry.at,
        endMs,
        errorType,
        isBroken: false,
      };
    }
    if (isAttempt) known.attempts++;
    known.costNanoUsd += entry.costNanoUsd;
    known.startMs = Math.min(known.startMs, entry.at);
    known.endMs = Math.max(known.endMs, endMs);
    known.errorType = errorType;
    known.isBroken = entry.outcome === "interrupted" || entry.outcome === "failed";
  }

  take(requestId: string): CallFacts | null {
    const last = this.#last;
    if (last !== null && this.#lastId === requestId) {
      this.#last = null;
      return last;
    }
    if (this.#calls.size === 0) return null;
    const facts = this.#calls.get(requestId) ?? null;
    if (facts !== null) this.#calls.delete(requestId);
    return facts;
  }

  #of(requestId: string): CallFacts | undefined {
    if (this.#last !== null && this.#lastId === requestId) return this.#last;
    return this.#calls.size === 0 ? undefined : this.#calls.get(requestId);
  }

  #putAway(): void {
    if (this.#last === null) return;
    if (this.#calls.size >= bounds.tracedCallsMax) this.#dropOldest();
    this.#calls.set(this.#lastId, this.#last);
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
