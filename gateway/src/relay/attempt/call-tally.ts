import type { Failure, Retry, Turn } from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import type { Selection } from "#routing/index.ts";
import type { Call, RelayDependencies } from "../call.ts";
import type { Warnings } from "../translation/translator.ts";
import type { CallEstimate } from "./hold.ts";
import type { LaneMatch } from "./lane-match.ts";

export interface AttemptParts {
  readonly dependencies: RelayDependencies;
  readonly call: Call;
  readonly selection: Selection;
  readonly match: LaneMatch;
  readonly tally: CallTally;
  readonly warnings: Warnings;
}

/** A failed attempt, with a message that may be shown on the request's page. */
export interface FailedAttempt {
  readonly attemptId: string;
  readonly code: string;
  readonly message: string;
  readonly retry: Retry;
}

/** `onOver` is called once, when the permit has ended. */
export interface TallyOwner {
  onOver(): void;
}

/** The sums of one call over all its attempts, and the one place where its permit ends. */
export class CallTally {
  attempts = 0;
  /** Attempts that tried a connection to an upstream. */
  tried = 0;
  /** Milliseconds spent waiting for upstreams and between attempts; the rest is overhead. */
  awayMs = 0;
  tokens = 0;
  /** Something of an attempt has left this machine, or may have. */
  sent = false;
  /** The call in neutral form, once an attempt had to be translated, and the warnings of reading it. */
  read: { readonly turn: Turn; readonly warnings: Warnings } | null = null;
  /** In order; null: none has failed. */
  failures: FailedAttempt[] | null = null;
  /** Why nothing was sent at all. */
  refusal: Failure | null = null;
  readonly permit: Permit;
  readonly estimate: CallEstimate;
  readonly #owner: TallyOwner;
  /** Resolves when a task holds the money of a background response and the permit has ended. null: there is no such task. */
  handover: Promise<void> | null = null;

  constructor(permit: Permit, estimate: CallEstimate, owner: TallyOwner) {
    this.permit = permit;
    this.estimate = estimate;
    this.#owner = owner;
  }

  /** Ends the permit: with what was used, or as if nothing had been when nothing was sent. */
  end(): void {
    if (this.handover === null) this.#end();
    else this.handover = this.handover.then(() => this.#end());
  }

  #end(): void {
    try {
      if (this.sent) this.permit.settle(this.tokens);
      else this.permit.release();
    } finally {
      this.estimate.end();
      this.#owner.onOver();
    }
  }
}
