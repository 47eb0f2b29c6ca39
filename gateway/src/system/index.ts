/**
 * system: time, ids, randomness and threads of the machine, behind the ports Clock, Ids, Chance and Offload.
 * - systemClock: wall time that may jump, monotonic time that does not, and timers of any length.
 * - steadyClock: a wall clock that ignores short jumps, for money.
 * - createIds: `att_01KX4…`: time, counter and randomness in Crockford base32, sortable by creation even if the clock is set back.
 * - systemChance: jitter and weights, never secrets.
 * - isBuilt: whether this is a build.
 * - WorkerPool: a few threads. One that dies or times out fails its order and is restarted with the next.
 * - OrderThread: a thread that does one order at a time; `serveOrders` is its side. WorkerThread: a thread with free messages.
 */

export { OrderThread, serveOrders } from "./order-thread.ts";
export { collectAfterStart, isBuilt, lowerPriority, releaseMemory } from "./process.ts";
export * from "./system-clock.ts";
export * from "./time-ordered-ids.ts";
export { inheritAuthorities, trustAuthorities } from "./trust.ts";
export { WorkerPool } from "./worker-pool.ts";
export { WorkerThread } from "./worker-thread.ts";
