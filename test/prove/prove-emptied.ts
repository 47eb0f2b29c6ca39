import { chat } from "../acceptance/chat-call.ts";
import type { Replicas } from "../acceptance/replicas.ts";
import { until } from "../until.ts";
import { admitted, type BurstOptions, burst, strangers } from "./burst.ts";
import { costOf, type Finding, finding, mostReceived, unlike } from "./proof.ts";
import { emptiedMoney, emptiedMoneyUsd, emptiedRate, emptiedRpm, type OwnKey } from "./prove-config.ts";
import type { Ways } from "./ways.ts";

const clients = 10;
const unknownKey = "sk-acme-unknown-0000000000000001";
const outputMax = 40;
const windowMs = 60_000;
/** How long the others ask while the first one's journal still waits, and how long in all. */
const behindMs = 5_000;
const askMs = 45_000;

/**
 * One replica is cut off from PostgreSQL and serves a part of a rate and of a budget; then Redis loses everything. What only that
 * replica's journal has counts all the same: the others are granted the rest, and not the whole once more.
 */
export async function proveEmptied({ gateways, redis, simulator }: Replicas, ways: Ways): Promise<Finding> {
  const [first, ...others] = gateways.map(({ url }) => url);
  if (first === undefined || others.length === 0) throw new Error("it takes two replicas");
  const asked = (own: OwnKey, urls: readonly string[], goesOn: BurstOptions["goesOn"]) =>
    burst({
      urls,
      key: own.secret,
      clients,
      script: () => ({ tokens: outputMax }),
      more: { model: own.model, max_tokens: outputMax },
      goesOn,
    });
  await simulator.clear();
  // Each replica knows the keys, and what their budget has spent.
  for (const own of [emptiedRate, emptiedMoney])
    await asked(
      own,
      gateways.map(({ url }) => url),
      (call) => call < 1,
    );
  const faults: (string | null)[] = [];
  try {
    await ways.set(0, "PostgreSQL", { kind: "cut off" });
    const rate = await asked(emptiedRate, [first], (call) => call < 14);
    const money = await asked(emptiedMoney, [first], (call) => call < 8);
    faults.push(unlike("admitted of the rate before", admitted(rate), clients * 14));
    faults.push(unlike("admitted of the budget before", admitted(money), clients * 8));
    await redis.end();
    if (!(await redis.run())) throw new Error("Redis did not start again");
    const endMs = performance.now() + askMs;
    const rest = Promise.all(
      [emptiedRate, emptiedMoney].map((own) =>
        asked(own, others, (_call, refusals) => refusals < 3 && performance.now() < endMs),
      ),
    );
    await Bun.sleep(behindMs);
    await ways.set(0, "PostgreSQL", { kind: "fair" });
    for (const seen of await rest) faults.push(...strangers(seen, "200", "429", "402", "503 ledger_unavailable"));
  } finally {
    await ways.set(0, "PostgreSQL", { kind: "fair" });
  }
  // Until it has found PostgreSQL again, it refuses keys that it does not know.
  await until(async () => (await chat(first, { key: unknownKey })).status === 401);
  const truth = await simulator.settled();
  const served = mostReceived(
    truth.filter(({ model }) => model === emptiedRate.upstream),
    windowMs,
  );
  const spent = truth.filter(({ model }) => model === emptiedMoney.upstream).reduce((sum, one) => sum + costOf(one), 0);
  const budget = Math.round(emptiedMoneyUsd * 1e9);
  return finding(
    "Redis emptied while the journal of one replica waits: a rate and a budget",
    `${served} of ${emptiedRpm} within a minute, ${spent} of ${budget} nano-USD`,
    [
      ...faults,
      served > emptiedRpm ? `${served} within a minute` : null,
      spent > budget ? `${spent - budget} nano-USD beyond the budget` : null,
    ],
  );
}
