/**
 * coordination: state that calls share, behind the ports `Counter` and `HealthBoard`. It lives in the memory of one process;
 * limits of several processes are counted in a Redis (`redis/`), behind the same port and under the same conformance suite.
 *
 * A *tally* is one counted thing (a window, a gauge, a budget); a *share* is what one reservation took of one tally; a
 * *reservation* is the shares of one call, all taken or none.
 *
 * When the world is down: memory cannot be down, but it can be full. A tally that still counts something is never
 * forgotten to make room, but a budget that nobody uses is, since the ledger knows it; a claim that would need a new one is then
 * let through or refused as its own `fail` says, and the operator is told. A restart starts empty: `limits` reads the ledger.
 */
export { createLeadership, createSoleLeadership } from "./leases/leadership.ts";
export { createMemoryCounter } from "./memory-counter.ts";
export { createMemoryHealthBoard } from "./memory-health-board.ts";
export { createMemoryTries } from "./memory-tries.ts";
export { createRedisCounter, examineRedis } from "./redis/loaded-late.ts";
export { type RedisCounterOptions, redisVersionMin, type Seeding } from "./redis/options.ts";
export type { RedisCounter } from "./redis/redis-counter.ts";
