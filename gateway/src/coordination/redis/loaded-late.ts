import type { checkRedis as check } from "./check-redis.ts";
import type { createRedisCounter as create } from "./redis-counter.ts";

/** Loaded on demand: a gateway that counts in memory needs none of its modules. */
export const createRedisCounter: typeof create = async (options) => {
  return await (await import("./redis-counter.ts")).createRedisCounter(options);
};

export const checkRedis: typeof check = async (url, clock) => {
  return await (await import("./check-redis.ts")).checkRedis(url, clock);
};
