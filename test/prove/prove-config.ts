import type { ConfigFile } from "@sluice/contract";
import { keys, model, testConfig } from "../acceptance/test-config.ts";
import { videoConfig } from "../acceptance/video-orders.ts";

/** Secrets of the keys whose limits are to be proved. */
export const provedKeys = {
  open: "sk-acme-open-00000000000000001",
  closed: "sk-acme-closed-000000000000001",
  emptied: "sk-acme-emptied-00000000000001",
  cutOff: "sk-acme-cutoff-000000000000001",
  places: "sk-acme-places-000000000000001",
  money: "sk-acme-money-0000000000000001",
  videos: "sk-acme-videos-000000000000001",
} as const;

/** Places for calls at the same time. */
export const placesMax = 40;

/** Places of the key that calls hold on a replica that is cut off. */
export const cutOffPlacesMax = 30;

/** A key with a model of its own, by which its calls are known at the upstream. */
export interface OwnKey {
  readonly secret: string;
  readonly model: string;
  readonly upstream: string;
}

function ownKey(name: string): OwnKey {
  return { secret: `sk-acme-${name}-0000000000000001`, model: `gpt-${name}`, upstream: `up-${name}` };
}

/** A rate and a budget of which a part is used before Redis is emptied. */
export const emptiedRpm = 300;
export const emptiedRate = ownKey("emptied-rate");
export const emptiedMoneyUsd = 0.0038;
export const emptiedMoney = ownKey("emptied-money");

/** Calls a minute of the key whose rate is reached all through the kill loop. */
export const pacedRpm = 120;
export const pacedKey = ownKey("paced");

/** Budgets that are spent one after the other during the kill loop, each by some hundred calls. */
export const smallBudgetUsd = 0.0025;
export const smallBudgets = Array.from({ length: 20 }, (_, at) => ownKey(`spent${at + 1}`));

/** The keys of the kill loop and of videos have limits far above their load: what they count must come back to the books. */
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
          { name: "videos", secret: provedKeys.videos, ...wide },
          { name: "open", secret: provedKeys.open, limits: { rpm, fail: "open" } },
          { name: "closed", secret: provedKeys.closed, limits: { rpm, fail: "closed" } },
          { name: "emptied", secret: provedKeys.emptied, limits: { rpm, fail: "closed" } },
          {
            name: "cut-off",
            secret: provedKeys.cutOff,
            limits: { concurrency: cutOffPlacesMax, fail: "closed" },
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
          { name: "places", secret: provedKeys.places, limits: { concurrency: placesMax, fail: "closed" } },
          {
            name: "money",
            secret: provedKeys.money,
            limits: { concurrency: 10_000 },
            budget: { usd: budgetUsd, period: "total", fail: "closed" },
          },
        ],
      },
    ],
  };
}
