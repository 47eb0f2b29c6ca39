/**
 * Token classes that do not overlap: their sum is what was processed. `reasoning` is the one exception:
 * it is reported inside `output`. Counts are whole numbers ≥ 0.
 */
export interface Usage {
  readonly inputUncached: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly audioInput: number;
  readonly audioOutput: number;
  readonly imageInput: number;
  readonly imageOutput: number;
  readonly images: number;
  readonly videoSeconds: number;
  /** What the upstream did for the call by tools of its own: searches of the web, of stored files, places to run code. */
  readonly webSearches: number;
  readonly fileSearches: number;
  readonly codeSessions: number;
}

/** Where the numbers come from: told by the upstream, estimated by us, or nothing was used. */
export type UsageSource = "upstream" | "estimated" | "none";

export const noUsage: Usage = Object.freeze({
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  images: 0,
  videoSeconds: 0,
  webSearches: 0,
  fileSearches: 0,
  codeSessions: 0,
});

export const usageClasses = Object.keys(noUsage) as readonly (keyof Usage)[];

/** Every token that counts towards a tokens-per-minute limit: all classes but `reasoning`, which output holds. */
export function tokensOf(usage: Usage): number {
  return (
    usage.inputUncached +
    usage.cacheRead +
    usage.cacheWrite5m +
    usage.cacheWrite1h +
    usage.output +
    usage.audioInput +
    usage.audioOutput +
    usage.imageInput +
    usage.imageOutput
  );
}
