import type { TruthRecord } from "@sluice/simulator";
import type { Replicas } from "../acceptance/replicas.ts";
import { admitted, type BurstOptions, type BurstSeen, burst, strangers } from "./burst.ts";
import { type Finding, finding, unlike } from "./proof.ts";
import { placesMax, provedKeys } from "./prove-config.ts";

/** A burst that takes as long has seen more than one window of a minute. */
const windowMs = 60_000;
const turnsMax = 3;
/** How long calls hold their places while the others ask for one. */
const holdMs = 10_000;

/** `rpm`: what the proved keys are limited to. */
export interface LimitsOptions {
  readonly clients: number;
  readonly rpm: number;
}

/** Exactly as many calls as a limit says are admitted by all replicas together. */
export async function proveLimits(replicas: Replicas, options: LimitsOptions): Promise<readonly Finding[]> {
  return [
    await exact(replicas, options, "open"),
    await exact(replicas, options, "closed"),
    await emptied(replicas, options),
    await places(replicas, options),
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
      unlike("admitted", admitted(seen), options.rpm),
      unlike("served by the upstream", truth.length, options.rpm),
      ...strangers(seen, "200", "429"),
      inOneWindow(seen),
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
  return gateways.some((gateway) => gateway.output().includes("The shared counter of limits does not answer"));
}

/** Redis dies in the middle, with all that it had counted. */
async function emptied(replicas: Replicas, options: LimitsOptions): Promise<Finding> {
  const endMs = performance.now() + windowMs * 0.75;
  let good = 0;
  let lost: Promise<void> | null = null;
  const { seen, truth } = await served(replicas, {
    ...usual(replicas, options),
    key: provedKeys.emptied,
    goesOn: (_call, refusals) => refusals < 3 && performance.now() < endMs,
    onAnswer(status) {
      if (status === 200) good += 1;
      if (good >= options.rpm / 3) lost ??= killRedis(replicas);
    },
  });
  await lost;
  return finding(
    `limit of ${options.rpm} a minute, fail: closed, Redis killed and emptied meanwhile`,
    `${truth.length} served, ${seen.answers.get("503 ledger_unavailable") ?? 0} times nobody could count, ${seen.tookMs} ms`,
    [
      truth.length > options.rpm ? `${truth.length} were served, more than ${options.rpm}` : null,
      lost === null ? "the limit was not reached far enough for Redis to be killed" : null,
      ...strangers(seen, "200", "429", "503 ledger_unavailable"),
      inOneWindow(seen),
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

function inOneWindow({ tookMs }: BurstSeen): string | null {
  return tookMs < windowMs ? null : `it took ${tookMs} ms, longer than the limit's window: this proves nothing`;
}

function mostAtOnce(truth: readonly TruthRecord[]): number {
  const steps = truth.flatMap(({ received_at, ended_at }) => [
    { atMs: received_at, by: 1 },
    { atMs: ended_at ?? Number.POSITIVE_INFINITY, by: -1 },
  ]);
  let now = 0;
  let most = 0;
  // Who ends in the same millisecond as somebody begins has ended before.
  for (const { by } of steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
