/**
 * system: time, ids and chance as the machine gives them, behind the ports Clock, Ids and Chance.
 *
 * systemClock   wall time that may jump, a monotonic time that does not, and one-shot timers of any length.
 * steadyClock   a wall clock that a hand which sets it for a moment does not move; for money.
 * createIds     `att_01KX4…`: 10 characters of milliseconds, 4 of a counter, 12 of randomness, in Crockford base32.
 *               Sorted as text they are in the order they were made, also when the wall clock is set back.
 * systemChance  ordinary chance for jitter and weights; never for secrets.
 * isBuilt       whether this runs from a build or from the source.
 * WorkerPool    a few threads behind the port Offload. One that dies or is late fails the order that it had, and is started
 *               again with the next.
 * OrderThread   one such thread; `serveOrders` is its side of it. WorkerThread is a thread that says what it likes.
 */

export { OrderThread, serveOrders } from "./order-thread.ts";
export { isBuilt, lowerPriority, releaseMemory } from "./process.ts";
export * from "./system-clock.ts";
export * from "./time-ordered-ids.ts";
export { trustAsTheProcess, trustAuthorities } from "./trust.ts";
export { WorkerPool } from "./worker-pool.ts";
export { WorkerThread } from "./worker-thread.ts";
