import type { examineRedis as examine } from "./examine-redis.ts";
import type { createRedisCounter as create } from "./redis-counter.ts";

/** The counter in Redis is forty modules, which a gateway that counts in its memory has no use for: loaded when it is asked for. */
export const createRedisCounter: typeof create = async (options) => {
  const late = await import("./redis-counter.ts");
  return await late.createRedisCounter(options);
};

export const examineRedis: typeof examine = async (url, clock) => {
  const late = await import("./examine-redis.ts");
  return await late.examineRedis(url, clock);
};
