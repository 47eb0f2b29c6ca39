import type { ConfigFile } from "@sluice/contract";
import { keys, testConfig } from "../acceptance/test-config.ts";
import { videoConfig } from "../acceptance/video-orders.ts";

/** Secrets of the keys whose limits are to be proved. */
export const provedKeys = {
  open: "sk-acme-open-00000000000000001",
  closed: "sk-acme-closed-000000000000001",
  emptied: "sk-acme-emptied-00000000000001",
  places: "sk-acme-places-000000000000001",
  money: "sk-acme-money-0000000000000001",
  videos: "sk-acme-videos-000000000000001",
} as const;

/** Places for calls at the same time. */
export const placesMax = 40;

/** The keys of the kill loop and of videos have limits far above their load: what they count must come back to the books. */
export function proveConfig(simulatorUrl: string, rpm: number, budgetUsd: number): ConfigFile {
  const wide = { limits: { concurrency: 10_000 }, budget: { usd: 100_000, period: "total" } } as const;
  const chats = testConfig(simulatorUrl);
  const videos = videoConfig(simulatorUrl);
  return {
    ...chats,
    providers: [...(chats.providers ?? []), ...(videos.providers ?? [])],
    models: [...(chats.models ?? []), ...(videos.models ?? [])],
    workspaces: [
      {
        slug: "acme",
        keys: [
          { name: "main", secret: keys.main, ...wide },
          { name: "videos", secret: provedKeys.videos, ...wide },
          { name: "open", secret: provedKeys.open, limits: { rpm, fail: "open" } },
          { name: "closed", secret: provedKeys.closed, limits: { rpm, fail: "closed" } },
          { name: "emptied", secret: provedKeys.emptied, limits: { rpm, fail: "closed" } },
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
