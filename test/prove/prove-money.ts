import { seededChance } from "../../gateway/test/simulation/seeded-chance.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import type { Replicas } from "../acceptance/replicas.ts";
import { until } from "../until.ts";
import { admitted, burst, strangers } from "./burst.ts";
import { costOf, type Finding, finding, unlike } from "./proof.ts";
import { provedKeys } from "./prove-config.ts";

const outputMax = 40;

/**
 * Every client asks until it is refused, and again. What is spent is what the upstream served, to the nano-USD, in the books of
 * each replica; it is never beyond the budget, since each call says how long its answer may become and that is reserved.
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
  const usual = { urls, key: provedKeys.money, more: { max_tokens: outputMax } };
  const seen = await burst({
    ...usual,
    clients: options.clients,
    script: () => ({ tokens: 1 + Math.floor(chance.unit() * outputMax), cached_tokens: 2 }),
    goesOn: (_call, refusals) => refusals < 4,
  });
  // Nothing is under way any more: what is left is not enough for one call.
  const last = await burst({
    ...usual,
    clients: 1,
    script: () => ({ tokens: outputMax, cached_tokens: 2 }),
    goesOn: (_call, refusals) => refusals < 3,
  });
  const truth = await simulator.settled();
  const spent = truth.reduce((all, record) => all + costOf(record), 0);
  const dearest = Math.max(0, ...truth.map(costOf));
  const told = await Promise.all(urls.map(async (url) => (await standing(url, spent)).spentNanoUsd));
  return [
    finding(
      `budget of ${budget} nano-USD under ${options.clients} clients`,
      `${spent} spent by ${admitted(seen) + admitted(last)} calls, ${Math.max(0, spent - budget)} beyond it`,
      [
        spent > budget ? `${spent - budget} nano-USD beyond the budget` : null,
        // The reservation of one call is the price of its longest answer and a guess of its prompt.
        budget - spent > 3 * dearest ? `${budget - spent} are left, and calls of ${dearest} are refused` : null,
        unlike("served by the upstream", truth.length, admitted(seen) + admitted(last)),
        ...told.map((one, at) => unlike(`spent, as replica ${at + 1} tells it`, one, spent)),
        ...strangers(seen, "200", "429", "402"),
        ...strangers(last, "200", "429", "402"),
      ],
    ),
  ];
}

/** What a replica tells, once it tells what was spent; else what it tells at last. */
async function standing(url: string, spent: number) {
  let latest = { running: 0, spentNanoUsd: Number.NaN };
  return await until(async () => {
    latest = (await readKeyUsage(url, provedKeys.money)) ?? latest;
    return latest.spentNanoUsd === spent ? latest : null;
  }).catch(() => latest);
}
