/**
 * workers: several processes of one gateway that share its ports on one machine.
 *
 * Supervisor        keeps them running: starts, replaces what ended, ends all, replaces all one by one.
 * workerSpawner     workers as processes, what they print passed on line by line.
 * createWorkerLink  a worker's side of the channel: its turn to listen, being replaced, the numbers of all.
 * SharedPort        what the kernel knows of a port that several processes share, and what it can be told.
 *
 * When the supervisor dies, each worker sees its channel close and ends in order. When a worker dies, or hangs beyond a bound,
 * another takes its place; ends in a row make the rests between them longer.
 */
export type { SharedPorts, Totals } from "./messages.ts";
export { SharedPort } from "./shared-port.ts";
export { workerSpawner } from "./spawn-worker.ts";
export { Supervisor } from "./supervisor.ts";
export { createWorkerLink, processChannel, type WorkerLink } from "./worker-link.ts";
