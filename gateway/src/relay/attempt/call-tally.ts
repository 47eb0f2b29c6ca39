import type { Failure, Retry, Turn } from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import { Warnings } from "../translation/translator.ts";
import type { CallEstimate } from "./hold.ts";

/** An attempt that failed, in words that may be shown to whoever looks at the request. */
export interface FailedAttempt {
  readonly attemptId: string;
  readonly code: string;
  readonly message: string;
  readonly retry: Retry;
}

/** What one call has come to over all its attempts, and the one place where its permit ends. */
export class CallTally {
  attempts = 0;
  /** Of those, the ones for which an upstream was reached for; the others ended before. */
  tried = 0;
  /** Milliseconds spent waiting for upstreams and between attempts; the rest of the time is ours. */
  awayMs = 0;
  /** The call in neutral form, once an attempt had to be translated, and what its own dialect could not say. */
  turn: Turn | null = null;
  readonly turnWarnings = new Warnings();
  /** Attempts that failed, in their order; null when none has. */
  failures: FailedAttempt[] | null = null;
  /** Why nothing was sent at all. */
  refusal: Failure | null = null;
  readonly permit: Permit;
  readonly estimate: CallEstimate;
  readonly #over: () => void;
  /** Resolves when a task holds the money of a background response and the permit has ended. null: there is no such task. */
  handover: Promise<void> | null = null;
  #tokens = 0;
  #sent = false;

  /** `over` is called once, when the permit has ended. */
  constructor(permit: Permit, estimate: CallEstimate, over: () => void) {
    this.permit = permit;
    this.estimate = estimate;
    this.#over = over;
  }

  /** What an attempt used. What it cost the budgets heard when its entry was settled. */
  add(tokens: number): void {
    this.#tokens += tokens;
  }

  failed(attempt: FailedAttempt): void {
    this.failures ??= [];
    this.failures.push(attempt);
  }

  /** Something of an attempt has left this machine, or may have. */
  sent(): void {
    this.#sent = true;
  }

  /** A task takes the money over: the permit does not end before that is done. `held` never rejects. */
  passedOn(held: Promise<void>): void {
    this.handover = held;
  }

  /** Ends the permit: with what was used, or as if nothing had been when nothing was sent. */
  end(): void {
    if (this.handover === null) this.#end();
    else this.handover = this.handover.then(() => this.#end());
  }

  #end(): void {
    try {
      if (this.#sent) this.permit.settle(this.#tokens);
      else this.permit.release();
    } finally {
      this.estimate.end();
      this.#over();
    }
  }
}
