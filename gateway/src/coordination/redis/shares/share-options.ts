/** How much is leased. Left out: what suits a gateway. */
export interface ShareOptions {
  /** A limit is leased when it is at least so many times what a call takes. */
  readonly callsPerLimitMin?: number;
  /** A share is to last for so long, as calls come now. */
  readonly aheadMs?: number;
  /** … and for so many calls, however few come. */
  readonly callsMin?: number;
  /** How soon after the last message there is the next, when a share is used up. */
  readonly tellMsMin?: number;
}
