import type { NanoUsd } from "#core/index.ts";

/** Money to be held for a call: all that it can come to and, where it can be ended before that, what it needs to begin. */
export interface Money {
  readonly most: NanoUsd;
  readonly least: NanoUsd;
}

/** What a call will probably use, and what it may at most cost. */
export interface Estimate {
  /** Input and output together. */
  readonly tokens: number;
  /** It costs nothing, whatever comes of it: no budget is asked, also one that is used up. */
  readonly isFree?: boolean;
  /** Asked only when a budget stands on its caller. */
  money(): Money;
}

export const noMoney: Money = Object.freeze({ most: 0, least: 0 });

/** Of a call that counts as a request and no more. */
export const nothingWanted: Estimate = Object.freeze({ tokens: 0, money: () => noMoney });

/** The same of one that costs nothing, whatever comes of it. */
export const freeRequest: Estimate = Object.freeze({ ...nothingWanted, isFree: true });

/** An estimate with its money worked out, or left out where nobody asks. */
export interface Wanted extends Money {
  readonly tokens: number;
}
