import type { ConfigFile } from "@sluice/contract";
import { keys, model, testConfig } from "../acceptance/test-config.ts";
import { videoConfig } from "../acceptance/video-orders.ts";

/** Secrets of the keys with limits under test. */
export const limitedKeys = {
  open: "sk-acme-open-00000000000000001",
  closed: "sk-acme-closed-000000000000001",
  redisEmptied: "sk-acme-emptied-00000000000001",
  cutOff: "sk-acme-cutoff-000000000000001",
  concurrency: "sk-acme-places-000000000000001",
  money: "sk-acme-money-0000000000000001",
  videos: "sk-acme-videos-000000000000001",
} as const;

/** Concurrent calls that the key may have. */
export const concurrencyMax = 40;

/** Concurrent calls of the key that is used when a replica is cut off from Redis. */
export const cutOffConcurrencyMax = 30;

/** A key with its own model, so that its calls can be recognized at the upstream. */
export interface ModelKey {
  readonly secret: string;
  readonly model: string;
  readonly upstream: string;
}

function modelKey(name: string): ModelKey {
  return { secret: `sk-acme-${name}-0000000000000001`, model: `gpt-${name}`, upstream: `up-${name}` };
}

/** A rate and a budget that are partly used before Redis loses its data. */
export const emptiedRpm = 300;
export const emptiedRate = modelKey("emptied-rate");
export const emptiedMoneyUsd = 0.0038;
export const emptiedMoney = modelKey("emptied-money");

/** Calls per minute of the key that is at its rate limit during the whole kill loop. */
export const pacedRpm = 120;
export const pacedKey = modelKey("paced");

/** Budgets that are spent one after the other during the kill loop, each by about a hundred calls. */
export const smallBudgetUsd = 0.0025;
export const smallBudgets = Array.from({ length: 20 }, (_, at) => modelKey(`spent${at + 1}`));

/** The keys of the kill loop and of videos have limits far above their load; in the end their counters must match the ledger. */
export function proveConfig(simulatorUrl: string, rpm: number, budgetUsd: number): ConfigFile {
  const wide = { limits: { concurrency: 10_000 }, budget: { usd: 100_000, period: "total" } } as const;
  const chats = testConfig(simulatorUrl);
  const videos = videoConfig(simulatorUrl);
  return {
    ...chats,
    providers: [...(chats.providers ?? []), ...(videos.providers ?? [])],
    models: [
      ...(chats.models ?? []),
      ...(videos.models ?? []),
      ...[emptiedRate, emptiedMoney, pacedKey, ...smallBudgets].map((own) =>
        model(own.model, [{ provider: "sim", upstream_model: own.upstream }]),
      ),
    ],
    workspaces: [
      {
        slug: "acme",
        keys: [
          { name: "main", secret: keys.main, ...wide },
          { name: "videos", secret: limitedKeys.videos, ...wide },
          { name: "open", secret: limitedKeys.open, limits: { rpm, fail: "open" } },
          { name: "closed", secret: limitedKeys.closed, limits: { rpm, fail: "closed" } },
          { name: "emptied", secret: limitedKeys.redisEmptied, limits: { rpm, fail: "closed" } },
          {
            name: "cut-off",
            secret: limitedKeys.cutOff,
            limits: { concurrency: cutOffConcurrencyMax, fail: "closed" },
            budget: wide.budget,
          },
          { name: "emptied-rate", secret: emptiedRate.secret, limits: { rpm: emptiedRpm, fail: "closed" } },
          {
            name: "emptied-money",
            secret: emptiedMoney.secret,
            limits: { concurrency: 10_000 },
            budget: { usd: emptiedMoneyUsd, period: "total", fail: "closed" },
          },
          { name: "paced", secret: pacedKey.secret, limits: { rpm: pacedRpm, fail: "closed" } },
          ...smallBudgets.map(({ secret }, at) => ({
            name: `spent-${at + 1}`,
            secret,
            limits: { concurrency: 10_000 },
            budget: { usd: smallBudgetUsd, period: "total" as const, fail: "closed" as const },
          })),
          { name: "places", secret: limitedKeys.concurrency, limits: { concurrency: concurrencyMax, fail: "closed" } },
          {
            name: "money",
            secret: limitedKeys.money,
            limits: { concurrency: 10_000 },
            budget: { usd: budgetUsd, period: "total", fail: "closed" },
          },
        ],
      },
    ],
  };
}
