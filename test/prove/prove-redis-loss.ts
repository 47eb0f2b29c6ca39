import { chat } from "../acceptance/chat-call.ts";
import type { Replicas } from "../acceptance/replicas.ts";
import { until } from "../until.ts";
import { admitted, type BurstOptions, burst, unexpectedAnswers } from "./burst.ts";
import { costOf, type Finding, finding, mismatch, mostReceived } from "./proof.ts";
import { emptiedMoney, emptiedMoneyUsd, emptiedRate, emptiedRpm, type ModelKey } from "./prove-config.ts";
import type { Proxies } from "./proxies.ts";

const clients = 10;
const unknownKey = "sk-acme-unknown-0000000000000001";
const outputMax = 40;
const windowMs = 60_000;
/** How long the other replicas are called before the journal of the first is drained, and in total. */
const undrainedMs = 5_000;
const callingMs = 45_000;

/**
 * Cuts one replica off from PostgreSQL while it serves part of a rate and of a budget; then Redis loses everything. Calls that are
 * only in that replica's journal must still count: the others may grant the rest, not the whole limit again.
 */
export async function proveRedisLoss({ gateways, redis, simulator }: Replicas, proxies: Proxies): Promise<Finding> {
  const [first, ...others] = gateways.map(({ url }) => url);
  if (first === undefined || others.length === 0) throw new Error("this needs two replicas");
  const callWith = (own: ModelKey, urls: readonly string[], shouldCall: BurstOptions["shouldCall"]) =>
    burst({
      urls,
      key: own.secret,
      clients,
      script: () => ({ tokens: outputMax }),
      more: { model: own.model, max_tokens: outputMax },
      shouldCall,
    });
  await simulator.clear();
  // Each replica loads the keys and what their budgets have spent.
  for (const own of [emptiedRate, emptiedMoney])
    await callWith(
      own,
      gateways.map(({ url }) => url),
      (call) => call < 1,
    );
  const faults: (string | null)[] = [];
  try {
    await proxies.set(0, "PostgreSQL", { kind: "cut off" });
    const rate = await callWith(emptiedRate, [first], (call) => call < 14);
    const money = await callWith(emptiedMoney, [first], (call) => call < 8);
    faults.push(mismatch("admitted by the rate before", admitted(rate), clients * 14));
    faults.push(mismatch("admitted by the budget before", admitted(money), clients * 8));
    await redis.end();
    if (!(await redis.run())) throw new Error("Redis did not restart");
    const endMs = performance.now() + callingMs;
    const rest = Promise.all(
      [emptiedRate, emptiedMoney].map((own) =>
        callWith(own, others, (_call, refusals) => refusals < 3 && performance.now() < endMs),
      ),
    );
    await Bun.sleep(undrainedMs);
    await proxies.set(0, "PostgreSQL", { kind: "normal" });
    for (const seen of await rest)
      faults.push(...unexpectedAnswers(seen, "200", "429", "402", "503 ledger_unavailable"));
  } finally {
    await proxies.set(0, "PostgreSQL", { kind: "normal" });
  }
  // Until it has reconnected to PostgreSQL, the replica does not answer 401 to unknown keys.
  await until(async () => (await chat(first, { key: unknownKey })).status === 401);
  const truth = await simulator.settled();
  const served = mostReceived(
    truth.filter(({ model }) => model === emptiedRate.upstream),
    windowMs,
  );
  const spent = truth
    .filter(({ model }) => model === emptiedMoney.upstream)
    .reduce((sum, record) => sum + costOf(record), 0);
  const budget = Math.round(emptiedMoneyUsd * 1e9);
  return finding(
    "Redis loses its data while one replica's journal is not drained: a rate and a budget",
    `${served} of ${emptiedRpm} within a minute, ${spent} of ${budget} nano-USD`,
    [
      ...faults,
      served > emptiedRpm ? `${served} served within a minute` : null,
      spent > budget ? `${spent - budget} nano-USD over the budget` : null,
    ],
  );
}
