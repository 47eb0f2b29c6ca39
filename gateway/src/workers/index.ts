/**
 * workers: several processes of one gateway that share its ports on one machine.
 * - Supervisor: starts, replaces and ends workers, or replaces all one by one.
 * - workerSpawner: starts workers as processes and forwards their output by lines.
 * - createWorkerLink: a worker's side of the channel.
 * - SharedPort: counts the connections of a shared port and steers new ones.
 * If the supervisor dies, workers see their channel close and shut down. A worker that dies or hangs is replaced, with increasing delays.
 */
export type { SharedPorts, Totals } from "./messages.ts";
export { SharedPort } from "./shared-port.ts";
export { workerSpawner } from "./spawn-worker.ts";
export { Supervisor } from "./supervisor.ts";
export { createWorkerLink, processChannel, type WorkerLink } from "./worker-link.ts";
