import { seededChance } from "../../gateway/test/simulation/seeded-chance.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import type { Replicas } from "../acceptance/replicas.ts";
import { until } from "../until.ts";
import { admitted, burst, unexpectedAnswers } from "./burst.ts";
import { costOf, type Finding, finding, mismatch } from "./proof.ts";
import { limitedKeys } from "./prove-config.ts";

const outputMax = 40;

/**
 * Every client calls until it has been refused several times. Each replica must count exactly what the upstream served, to the
 * nano-USD. That is never more than the budget, because each call declares its maximum output, and its cost is reserved.
 */
export async function proveMoney(
  replicas: Replicas,
  options: { readonly clients: number; readonly budgetUsd: number; readonly seed: number },
): Promise<readonly Finding[]> {
  const { gateways, simulator } = replicas;
  const budget = Math.round(options.budgetUsd * 1e9);
  const chance = seededChance(options.seed);
  await simulator.clear();
  const urls = gateways.map(({ url }) => url);
  const commonOptions = { urls, key: limitedKeys.money, more: { max_tokens: outputMax } };
  const seen = await burst({
    ...commonOptions,
    clients: options.clients,
    script: () => ({ tokens: 1 + Math.floor(chance.unit() * outputMax), cached_tokens: 2 }),
    shouldCall: (_call, refusals) => refusals < 4,
  });
  // No call is running any more, and the rest of the budget is not enough for one call.
  const last = await burst({
    ...commonOptions,
    clients: 1,
    script: () => ({ tokens: outputMax, cached_tokens: 2 }),
    shouldCall: (_call, refusals) => refusals < 3,
  });
  const truth = await simulator.settled();
  const spent = truth.reduce((all, record) => all + costOf(record), 0);
  const mostExpensive = Math.max(0, ...truth.map(costOf));
  const counts = await Promise.all(urls.map(async (url) => (await readUsage(url, spent)).spentNanoUsd));
  return [
    finding(
      `budget of ${budget} nano-USD under ${options.clients} clients`,
      `${spent} spent by ${admitted(seen) + admitted(last)} calls, ${Math.max(0, spent - budget)} over it`,
      [
        spent > budget ? `${spent - budget} nano-USD over the budget` : null,
        // A call reserves the price of its longest answer and of an estimated prompt.
        budget - spent > 3 * mostExpensive
          ? `${budget - spent} are left, but calls of ${mostExpensive} are refused`
          : null,
        mismatch("served by the upstream", truth.length, admitted(seen) + admitted(last)),
        ...counts.map((count, at) => mismatch(`spent, as counted by replica ${at + 1}`, count, spent)),
        ...unexpectedAnswers(seen, "200", "429", "402"),
        ...unexpectedAnswers(last, "200", "429", "402"),
      ],
    ),
  ];
}

/** The usage that a replica reports, as soon as it shows what was spent, or else at the end of the wait. */
async function readUsage(url: string, spent: number) {
  let latest = { running: 0, spentNanoUsd: Number.NaN };
  return await until(async () => {
    latest = (await readKeyUsage(url, limitedKeys.money)) ?? latest;
    return latest.spentNanoUsd === spent ? latest : null;
  }).catch(() => latest);
}
