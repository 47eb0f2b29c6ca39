/**
 * coordination: state that calls share, behind the port `Counter`. One process keeps it in memory; several
 * processes count limits in Redis (`redis/`), behind the same port and tested by the same conformance suite.
 *
 * A *tally* is one counted thing (a window, a gauge, a budget). A *claim* asks for an amount of one tally. A *reservation* holds all
 * claims of one call, or none. In Redis, a *share* is the part of a large limit that is leased to one process.
 *
 * Failures: if Redis is down or memory is full, each limit's `fail` decides whether a call is admitted, and the operator is informed.
 * Tallies in use are never evicted. A restart begins empty; `limits` seeds it from the ledger.
 */
export { Budget } from "./budget.ts";
export { Gauge } from "./gauge.ts";
export { createLeadership, createSoleLeadership } from "./leases/leadership.ts";
export { createMemoryCounter } from "./memory-counter.ts";
export { createMemoryTries } from "./memory-tries.ts";
export { checkRedis, createRedisCounter } from "./redis/loaded-late.ts";
export { type RedisCounterOptions, redisVersionMin, type Seeding } from "./redis/options.ts";
export type { RedisCounter } from "./redis/redis-counter.ts";
export { Window } from "./window.ts";
