/**
 * What replicas tell each other about deployments. Reads are local and immediate; writes reach the others soon.
 * Times are milliseconds of the monotonic clock of this process.
 */
export interface HealthBoard {
  /** When the deployment may be tried again; 0 when it is not cooling. */
  coolingUntil(deploymentId: string): number;
  cool(deploymentId: string, untilMs: number, reason: string): void;
  clear(deploymentId: string): void;
}
