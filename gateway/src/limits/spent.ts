import type { NanoUsd } from "#core/index.ts";

/** What a call takes from the limits: estimated before it is sent, known after it. */
export interface Spent {
  /** Input and output together. */
  readonly tokens: number;
  readonly nanoUsd: NanoUsd;
}
