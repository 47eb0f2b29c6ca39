import type { TruthRecord } from "@sluice/simulator";
import type { Replicas } from "../acceptance/replicas.ts";
import { admitted, type BurstOptions, type BurstResult, burst, unexpectedAnswers } from "./burst.ts";
import { type Finding, finding, mismatch, mostAtOnce, mostReceived } from "./proof.ts";
import { concurrencyMax, limitedKeys } from "./prove-config.ts";
import { proveCutOff } from "./prove-cut-off.ts";
import { proveRedisLoss } from "./prove-redis-loss.ts";
import type { Proxies } from "./proxies.ts";

/** The window of a rate. A burst that takes longer, on a busy machine, may get more calls admitted in total. */
const windowMs = 60_000;
const turnsMax = 3;
/** How long calls stay open while the others try to start. */
const holdMs = 10_000;

/** `rpm`: the limit of the keys under test. */
export interface LimitsOptions {
  readonly clients: number;
  readonly rpm: number;
  readonly proxies: Proxies;
}

/** All replicas together admit exactly as many calls as the limit allows. */
export async function proveLimits(replicas: Replicas, options: LimitsOptions): Promise<readonly Finding[]> {
  return [
    await exactLimit(replicas, options, "open"),
    await exactLimit(replicas, options, "closed"),
    await redisEmptied(replicas, options),
    await concurrency(replicas, options),
    await proveCutOff(replicas, options.proxies),
    await proveRedisLoss(replicas, options.proxies),
  ];
}

async function exactLimit(replicas: Replicas, options: LimitsOptions, fail: "open" | "closed"): Promise<Finding> {
  let { seen, truth } = await burstUpTo(replicas, options, fail);
  // On a machine so busy that Redis does not answer within a second, `open` lets calls through; then the burst is repeated.
  for (let turn = 0; fail === "open" && loggedRedisUnavailable(replicas) && turn < turnsMax; turn++) {
    await Bun.sleep(windowMs * 1.1);
    for (const gateway of replicas.gateways) {
      await gateway.stop();
      await gateway.restart();
    }
    ({ seen, truth } = await burstUpTo(replicas, options, fail));
  }
  return finding(
    `limit of ${options.rpm} per minute, fail: ${fail}`,
    `${admitted(seen)} of ${sum(seen)} admitted, ${options.clients} clients, ${replicas.gateways.length} replicas, ${seen.tookMs} ms`,
    [
      mismatch("served by the upstream", truth.length, admitted(seen)),
      mismatch("within a minute", mostReceived(truth, windowMs), options.rpm),
      seen.tookMs < windowMs ? mismatch("admitted", admitted(seen), options.rpm) : null,
      ...unexpectedAnswers(seen, "200", "429"),
    ],
  );
}

function burstUpTo(replicas: Replicas, options: LimitsOptions, fail: "open" | "closed") {
  return served(replicas, {
    ...commonOptions(replicas, options),
    key: limitedKeys[fail],
    shouldCall: (call) => call < callsEach(options),
  });
}

/** Whether a replica has logged since its start that Redis was unavailable. */
function loggedRedisUnavailable({ gateways }: Replicas): boolean {
  return gateways.some((gateway) => gateway.output().includes("Redis unavailable"));
}

/** Redis is killed during the burst and loses its counters. */
async function redisEmptied(replicas: Replicas, options: LimitsOptions): Promise<Finding> {
  let endMs = Number.POSITIVE_INFINITY;
  let good = 0;
  let lost: Promise<void> | null = null;
  const { seen, truth } = await served(replicas, {
    ...commonOptions(replicas, options),
    key: limitedKeys.redisEmptied,
    shouldCall: (_call, refusals) => refusals < 3 && performance.now() < endMs,
    onAnswer(status) {
      if (status === 200) good += 1;
      if (good < options.rpm / 3 || lost !== null) return;
      lost = killRedis(replicas);
      endMs = performance.now() + windowMs * 0.75;
    },
  });
  await lost;
  return finding(
    `limit of ${options.rpm} per minute, fail: closed, Redis killed and emptied meanwhile`,
    `${truth.length} served, ${seen.answers.get("503 ledger_unavailable") ?? 0} calls refused without a counter, ${seen.tookMs} ms`,
    [
      mostReceived(truth, windowMs) > options.rpm ? `${mostReceived(truth, windowMs)} served within a minute` : null,
      lost === null ? "too few calls were admitted for Redis to be killed" : null,
      ...unexpectedAnswers(seen, "200", "429", "503 ledger_unavailable"),
    ],
  );
}

async function killRedis({ redis }: Replicas): Promise<void> {
  await redis.end();
  await Bun.sleep(500);
  if (!(await redis.run())) throw new Error("Redis did not restart");
}

/** All clients call at once and stay connected; exactly as many calls as the limit allows are admitted. */
async function concurrency(replicas: Replicas, options: LimitsOptions): Promise<Finding> {
  const { seen, truth } = await served(replicas, {
    ...commonOptions(replicas, options),
    key: limitedKeys.concurrency,
    script: () => ({ tokens: 1, latency_ms: holdMs }),
    shouldCall: (call) => call < 1,
  });
  const atOnce = mostAtOnce(truth);
  return finding(
    `limit of ${concurrencyMax} concurrent calls, fail: closed`,
    `${atOnce} concurrent, ${sum(seen) - admitted(seen)} refused`,
    [mismatch("concurrent calls", atOnce, concurrencyMax), ...unexpectedAnswers(seen, "200", "429")],
  );
}

function commonOptions(replicas: Replicas, { clients }: LimitsOptions) {
  return { urls: replicas.gateways.map(({ url }) => url), clients, script: () => ({ tokens: 3 }) };
}

/** Runs a burst. Returns what the callers received and what reached the upstream. */
async function served(
  { simulator }: Replicas,
  options: BurstOptions,
): Promise<{ readonly seen: BurstResult; readonly truth: readonly TruthRecord[] }> {
  await simulator.clear();
  return { seen: await burst(options), truth: await simulator.settled() };
}

/** Half as many calls again as the limit admits. */
function callsEach({ rpm, clients }: LimitsOptions): number {
  return Math.ceil((rpm * 1.5) / clients);
}

function sum({ answers }: BurstResult): number {
  return [...answers.values()].reduce((all, count) => all + count, 0);
}
