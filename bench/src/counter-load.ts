/**
 * `bun bench/src/counter-load.ts [rounds] [callers]`: CPU time of the limits of one call in this process, with counters in memory, in
 * Redis, and in Redis with leased shares, in turn. A call is checked, admitted, charged and settled. It has the same high limits as the
 * caller of `npm run bench`, so that only the counter is measured. Starts a separate Redis.
 */
import { createMemoryCounter, createRedisCounter, type RedisCounter } from "../../gateway/src/coordination/index.ts";
import type { LimitScope, Principal } from "../../gateway/src/core/index.ts";
import { Admission } from "../../gateway/src/limits/index.ts";
import { createIds, systemClock } from "../../gateway/src/system/index.ts";
import { governedPrincipal } from "../../gateway/test/simulation/governed-principal.ts";
import { RedisServer } from "../../test/redis-server.ts";
import { quantiles, spread } from "./statistics.ts";

const [rounds = 5, callers = 16] = process.argv.slice(2).map(Number);
const roundMs = 1_000;
const tokens = 300;
const nanoUsd = 400_000;

interface Contender {
  readonly name: string;
  readonly admission: Admission;
  readonly cpuUs: number[];
  readonly waitsMs: number[];
}

const principal: Principal = governedPrincipal({
  workspace: { limits: { concurrency: 1_000 }, budget: { nanoUsd: 1e15, period: "month" } },
  key: { limits: { rpm: 1e7, tpm: 1e9, concurrency: 1_000 }, budget: { nanoUsd: 1e14, period: "month" } },
});
const scopes: readonly LimitScope[] = principal.scopes;
let calls = 0;

async function call({ admission, waitsMs }: Contender): Promise<void> {
  const id = `req_${++calls}`;
  const beganMs = performance.now();
  await admission.check(principal);
  const estimate = { tokens, money: () => ({ most: nanoUsd, least: nanoUsd }) };
  const permit = await admission.admit(principal, estimate, id);
  if (calls % 17 === 0) waitsMs.push(performance.now() - beganMs);
  permit.tightestRate("rpm");
  // Stands in for the call itself: one turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  admission.settled({
    attemptId: `att_${calls}`,
    at: Date.now(),
    workspaceId: scopes[0]?.id ?? "",
    groupId: scopes[1]?.id ?? "",
    keyId: scopes[2]?.id ?? "",
    costNanoUsd: 310_000,
  });
  permit.settle(210);
}

async function round(contender: Contender): Promise<void> {
  const endMs = performance.now() + roundMs;
  let done = 0;
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endMs) {
        await call(contender);
        done++;
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  contender.cpuUs.push((user + system) / done);
}

const server = await RedisServer.start();
const shared: RedisCounter[] = [];
const open = async (namespace: string, more: object): Promise<RedisCounter> => {
  const observer = { log: (level: string, message: string) => console.error(level, message) };
  const ids = createIds(systemClock);
  const counter = await createRedisCounter({ url: server.url, clock: systemClock, ids, observer, namespace, ...more });
  shared.push(counter);
  return counter;
};
const contender = (name: string, admission: Admission): Contender => ({ name, admission, cpuUs: [], waitsMs: [] });
const contenders = [
  contender("memory", new Admission({ counter: createMemoryCounter({ clock: systemClock }), clock: systemClock })),
  contender("redis", new Admission({ counter: await open("plain", { shares: false }), clock: systemClock })),
  contender("redis, shares", new Admission({ counter: await open("leased", {}), clock: systemClock })),
];
for (const each of contenders) await round(each);
for (const each of contenders) {
  each.cpuUs.length = 0;
  each.waitsMs.length = 0;
}
for (let turn = 0; turn < rounds; turn++) for (const each of contenders) await round(each);
for (const { name, cpuUs, waitsMs } of contenders) {
  const cpu = spread(cpuUs);
  const { p50, p99 } = quantiles(waitsMs);
  console.log(
    `${name.padEnd(14)} ${cpu?.median.toFixed(1)} µs of processor time a call (${cpu?.min.toFixed(1)}–${cpu?.max.toFixed(1)}); ` +
      `admitted after ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`,
  );
}
for (const counter of shared) counter.close();
await server.stop();
