import { settingDefaults } from "@sluice/contract/words";
import type { ConfigSnapshot, Model, Provider } from "#core/index.ts";

interface ConfigSnapshotParts extends Partial<Omit<ConfigSnapshot, "providers" | "models" | "settings">> {
  readonly providers?: readonly Provider[] | ReadonlyMap<string, Provider>;
  readonly models?: readonly Model[];
  readonly settings?: Partial<ConfigSnapshot["settings"]>;
}

/** A config snapshot with only what a test names. Nothing is delayed or copied. */
export function quietConfigSnapshot({
  providers = [],
  models = [],
  settings,
  ...rest
}: ConfigSnapshotParts = {}): ConfigSnapshot {
  return {
    version: 1,
    workspaces: new Map(),
    groups: new Map(),
    providers: providers instanceof Map ? providers : new Map([...providers.values()].map((one) => [one.id, one])),
    models: new Map(models.map((model) => [model.name, model])),
    settings: {
      ...settingDefaults,
      "ledger.retention_days": 1,
      drain_timeout_ms: 1,
      unpriced: "block",
      ...settings,
    },
    guardrails: [],
    budgetPolicies: [],
    ...rest,
  };
}
