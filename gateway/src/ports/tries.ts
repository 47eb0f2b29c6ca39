/** How often something may be tried within a window, which begins with the first try. Times in milliseconds. */
export interface TryRule {
  /** What is tried: keys of different rules have nothing to do with each other. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  /** A window that was used up is followed by one twice as long, up to this. */
  readonly windowMsMax: number;
}

/**
 * Tries at something secret, counted by key (an account, an address). Where processes share a database they count together.
 * Whatever is tried stands in that database too, so each rejects where it cannot be asked: nothing is tried uncounted.
 */
export interface Tries {
  /** Counts one try against each key; or, when one of them has to wait, against none. */
  take(keys: readonly string[]): Promise<TakenTry>;
  /** Takes back one try that turned out well, or was none. */
  giveBack(keys: readonly string[]): Promise<void>;
  forget(key: string): Promise<void>;
}

export interface TakenTry {
  /** 0: it was counted. Else when there is room again. */
  readonly waitMs: number;
  /** It was counted, and is the last one that some key had in its window. */
  readonly isLast: boolean;
}

export type OpenTries = (rule: TryRule) => Tries;
