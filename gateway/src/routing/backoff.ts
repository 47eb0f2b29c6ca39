import { bounds } from "#core/index.ts";

/** Full jitter: anywhere between the least wait and a ceiling that grows fourfold with each retry. `unit` is in [0, 1). */
export function backoffMs(retry: number, unit: number): number {
  const ceilingMs = Math.min(bounds.backoffMsMax, bounds.backoffMsMin * 4 ** (retry + 1));
  return bounds.backoffMsMin + unit * (ceilingMs - bounds.backoffMsMin);
}
