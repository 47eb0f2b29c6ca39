/** Targets of the figures. Ratios are relative to nginx in the same run unless noted otherwise. */
export const targets = {
  cpuOfCall: { most: 1.6 },
  cpuOfLargeCall: { most: 2 },
  cpuOfEvent: { most: 1.15 },
  cpuOfTranslatedEvent: { most: 1.3 },
  addedMs: { p50: { most: 0.25 }, p99: { most: 1 } },
  firstByteP99Ms: { most: 0.6 },
  eventDelayP99Ms: { most: 50 },
  kbOfStream: { most: 20 },
  /** Maximum time that a single request may block others. */
  stallMs: { most: 20 },
  idleMb: { most: 80 },
  smallMb: { most: 120 },
  largeMb: { most: 150 },
  idlePercentOfCore: { most: 0.3 },
  coldCall: { most: 2 },
  startMs: { most: 1_000 },
  besideConsole: { most: 1.1 },
  /** Relative to one provider with one model. */
  longCatalog: { most: 1.05 },
  manyDeployments: { most: 1.02 },
  twoWorkers: { least: 1.8 },
  /** CPU time per call with one worker relative to two workers. Two workers on dedicated cores reach twice this throughput. */
  twoWorkersCpu: { least: 0.9 },
} as const;

/** Calls per second with limits on one core, scaled by nginx: where nginx reaches 70,000, the target is 45,000. */
export function callsPerSecondTarget(nginxPerSecond: number): { readonly least: number } | null {
  return Number.isFinite(nginxPerSecond) ? { least: (45_000 * nginxPerSecond) / 70_000 } : null;
}
