import { examineRedis, redisVersionMin } from "#coordination/index.ts";
import { type Check, fail, ok, warn } from "./finding.ts";

/** The Redis that several processes count their limits in answers, is new enough, and forgets nothing by itself. */
export const redisCheck: Check = async ({ environment, clock }) => {
  const url = environment.redisUrl?.reveal();
  if (url === undefined) return [ok("limits", "counted in the memory of one process (SLUICE_REDIS_URL is not set)")];
  const { shown, problem, version, policy } = await examineRedis(url, clock);
  const name = "redis";
  if (problem !== null) {
    const advice = "check SLUICE_REDIS_URL and the server; until it answers each limit does what its `fail` says";
    return [fail(name, `${shown} cannot be used: ${problem}`, advice)];
  }
  if (Number.parseInt(version, 10) < redisVersionMin) {
    return [fail(name, `${shown} is version ${version}`, `${redisVersionMin} or later is needed`)];
  }
  const findings = [ok(name, `${shown} answers, version ${version}`)];
  if (policy === "noeviction") return findings;
  const advice = "set it to noeviction: what is evicted was a limit somebody relies on";
  return [...findings, warn("redis memory", `maxmemory-policy is ${policy || "not known"}`, advice)];
};
