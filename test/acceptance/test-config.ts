import type { ConfigFile } from "@sluice/contract";

/** Secrets from the config file, so that they stay the same across restarts. */
export const keys = {
  main: "sk-acme-main-0000000000000001",
  narrow: "sk-acme-narrow-00000000000001",
} as const;

export const upstreamKey = "sk-upstream-of-the-tests-0042";

/** USD per million tokens, with halves of a nano-USD per token, so that tests cover rounding. */
export const testPrice = { input: 0.1255, cache_read: 0.0125, output: 0.6005 } as const;

/** The simulator as the only vendor, and one workspace. `more` replaces whole sections. */
export function testConfig(simulatorUrl: string, more: Partial<ConfigFile> = {}): ConfigFile {
  return {
    providers: [
      {
        id: "sim",
        kind: "openai-compatible",
        base_url: simulatorUrl,
        api_key: upstreamKey,
        allow_private_network: true,
      },
      {
        id: "sim-impatient",
        kind: "openai-compatible",
        base_url: simulatorUrl,
        api_key: upstreamKey,
        allow_private_network: true,
        timeouts: { headers_ms: 300, first_event_ms: 300, idle_ms: 300 },
      },
    ],
    models: [
      model("gpt-test", [{ provider: "sim", upstream_model: "up-test" }]),
      model("gpt-impatient", [{ provider: "sim-impatient", upstream_model: "up-impatient" }]),
    ],
    workspaces: [
      {
        slug: "acme",
        name: "Acme",
        groups: [{ name: "default", models: ["*"] }],
        keys: [
          { name: "main", secret: keys.main },
          { name: "narrow", secret: keys.narrow, models: ["gpt-impatient"] },
        ],
      },
    ],
    ...more,
  };
}

export type ModelEntry = NonNullable<ConfigFile["models"]>[number];

export function model(
  name: string,
  deployments: ModelEntry["deployments"],
  more: Partial<ModelEntry> = {},
): ModelEntry {
  return { name, deployments, price: { ...testPrice }, ...more };
}
