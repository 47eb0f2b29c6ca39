/** What the project wants of its figures. Ratios are over nginx in the same run where nothing else is said. */
export const targets = {
  cpuOfCall: { most: 1.6 },
  cpuOfLargeCall: { most: 2 },
  cpuOfEvent: { most: 1.15 },
  cpuOfTranslatedEvent: { most: 1.3 },
  addedMs: { p50: { most: 0.25 }, p99: { most: 1 } },
  firstByteP99Ms: { most: 0.6 },
  eventDelayP99Ms: { most: 50 },
  kbOfStream: { most: 20 },
  /** No single request keeps the others waiting longer. */
  stallMs: { most: 20 },
  idleMb: { most: 80 },
  idlePercentOfCore: { most: 0.3 },
  startMs: { most: 1_000 },
  besideConsole: { most: 1.1 },
  /** Over one provider with one model. */
  longCatalog: { most: 1.05 },
  manyDeployments: { most: 1.02 },
  twoWorkers: { least: 1.8 },
  /** Processor time of one worker over that of two: twice this is what two carry on cores of their own. */
  twoWorkersCpu: { least: 0.9 },
} as const;

/** Governed calls a second on one core, by what nginx makes on it: a machine of nginx's 70,000 has to make 45,000. */
export function callsPerSecondTarget(nginxPerSecond: number): { readonly least: number } | null {
  return Number.isFinite(nginxPerSecond) ? { least: (45_000 * nginxPerSecond) / 70_000 } : null;
}
