import type { TruthRecord } from "@sluice/simulator";
import type { Replicas } from "../acceptance/replicas.ts";
import { admitted, type BurstOptions, type BurstSeen, burst, strangers } from "./burst.ts";
import { type Finding, finding, mostAtOnce, mostReceived, unlike } from "./proof.ts";
import { placesMax, provedKeys } from "./prove-config.ts";
import { proveCutOff } from "./prove-cut-off.ts";
import { proveEmptied } from "./prove-emptied.ts";
import type { Ways } from "./ways.ts";

/** Of a rate; a burst that takes longer, on a busy machine, is admitted more in all. */
const windowMs = 60_000;
const turnsMax = 3;
/** How long calls hold their places while the others ask for one. */
const holdMs = 10_000;

/** `rpm`: what the proved keys are limited to. */
export interface LimitsOptions {
  readonly clients: number;
  readonly rpm: number;
  readonly ways: Ways;
}

/** Exactly as many calls as a limit says are admitted by all replicas together. */
export async function proveLimits(replicas: Replicas, options: LimitsOptions): Promise<readonly Finding[]> {
  return [
    await exact(replicas, options, "open"),
    await exact(replicas, options, "closed"),
    await emptied(replicas, options),
    await places(replicas, options),
    await proveCutOff(replicas, options.ways),
    await proveEmptied(replicas, options.ways),
  ];
}

async function exact(replicas: Replicas, options: LimitsOptions, fail: "open" | "closed"): Promise<Finding> {
  let { seen, truth } = await exactly(replicas, options, fail);
  // On a machine so busy that Redis does not answer within its second, `open` is to let calls through; that is tried again.
  for (let turn = 0; fail === "open" && saysRedisAway(replicas) && turn < turnsMax; turn++) {
    await Bun.sleep(windowMs * 1.1);
    for (const gateway of replicas.gateways) {
      await gateway.stop();
      await gateway.restart();
    }
    ({ seen, truth } = await exactly(replicas, options, fail));
  }
  return finding(
    `limit of ${options.rpm} a minute, fail: ${fail}`,
    `${admitted(seen)} of ${sum(seen)} admitted, ${options.clients} clients, ${replicas.gateways.length} replicas, ${seen.tookMs} ms`,
    [
      unlike("served by the upstream", truth.length, admitted(seen)),
      unlike("within a minute", mostReceived(truth, windowMs), options.rpm),
      seen.tookMs < windowMs ? unlike("admitted", admitted(seen), options.rpm) : null,
      ...strangers(seen, "200", "429"),
    ],
  );
}

function exactly(replicas: Replicas, options: LimitsOptions, fail: "open" | "closed") {
  return served(replicas, {
    ...usual(replicas, options),
    key: provedKeys[fail],
    goesOn: (call) => call < callsEach(options),
  });
}

/** Whether a replica has said since its start that Redis did not answer it. */
function saysRedisAway({ gateways }: Replicas): boolean {
  return gateways.some((gateway) => gateway.output().includes("Redis unavailable"));
}

/** Redis dies in the middle, with all that it had counted. */
async function emptied(replicas: Replicas, options: LimitsOptions): Promise<Finding> {
  let endMs = Number.POSITIVE_INFINITY;
  let good = 0;
  let lost: Promise<void> | null = null;
  const { seen, truth } = await served(replicas, {
    ...usual(replicas, options),
    key: provedKeys.emptied,
    goesOn: (_call, refusals) => refusals < 3 && performance.now() < endMs,
    onAnswer(status) {
      if (status === 200) good += 1;
      if (good < options.rpm / 3 || lost !== null) return;
      lost = killRedis(replicas);
      endMs = performance.now() + windowMs * 0.75;
    },
  });
  await lost;
  return finding(
    `limit of ${options.rpm} a minute, fail: closed, Redis killed and emptied meanwhile`,
    `${truth.length} served, ${seen.answers.get("503 ledger_unavailable") ?? 0} times nobody could count, ${seen.tookMs} ms`,
    [
      mostReceived(truth, windowMs) > options.rpm
        ? `${mostReceived(truth, windowMs)} were served within a minute`
        : null,
      lost === null ? "the limit was not reached far enough for Redis to be killed" : null,
      ...strangers(seen, "200", "429", "503 ledger_unavailable"),
    ],
  );
}

async function killRedis({ redis }: Replicas): Promise<void> {
  await redis.end();
  await Bun.sleep(500);
  if (!(await redis.run())) throw new Error("Redis did not start again");
}

/** All clients ask at once and stay: as many as there are places are let in. */
async function places(replicas: Replicas, options: LimitsOptions): Promise<Finding> {
  const { seen, truth } = await served(replicas, {
    ...usual(replicas, options),
    key: provedKeys.places,
    script: () => ({ tokens: 1, latency_ms: holdMs }),
    goesOn: (call) => call < 1,
  });
  const atOnce = mostAtOnce(truth);
  return finding(
    `limit of ${placesMax} at the same time, fail: closed`,
    `${atOnce} at the same time, ${sum(seen) - admitted(seen)} refused`,
    [unlike("at the same time", atOnce, placesMax), ...strangers(seen, "200", "429")],
  );
}

function usual(replicas: Replicas, { clients }: LimitsOptions) {
  return { urls: replicas.gateways.map(({ url }) => url), clients, script: () => ({ tokens: 3 }) };
}

/** What callers saw, and what reached the upstream. */
async function served(
  { simulator }: Replicas,
  options: BurstOptions,
): Promise<{ readonly seen: BurstSeen; readonly truth: readonly TruthRecord[] }> {
  await simulator.clear();
  return { seen: await burst(options), truth: await simulator.settled() };
}

/** Half as many again as are let in. */
function callsEach({ rpm, clients }: LimitsOptions): number {
  return Math.ceil((rpm * 1.5) / clients);
}

function sum({ answers }: BurstSeen): number {
  return [...answers.values()].reduce((all, count) => all + count, 0);
}
