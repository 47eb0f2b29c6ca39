/**
 * Shares the health of deployments between replicas. Reads are local and immediate. Writes reach the others soon.
 * Times are milliseconds of the monotonic clock of this process.
 */
export interface HealthBoard {
  /** Nothing cools, so that none need be asked after. */
  readonly quiet: boolean;
  /** When the deployment may be tried again; 0: now. */
  coolingUntil(deploymentId: string): number;
  cool(deploymentId: string, untilMs: number, reason: string): void;
  clear(deploymentId: string): void;
}
