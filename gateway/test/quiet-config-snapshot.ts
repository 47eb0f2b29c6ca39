import type { ConfigSnapshot, Model, Provider } from "#core/index.ts";

interface ConfigSnapshotParts extends Partial<Omit<ConfigSnapshot, "providers" | "models" | "settings">> {
  readonly providers?: readonly Provider[] | ReadonlyMap<string, Provider>;
  readonly models?: readonly Model[];
  readonly settings?: Partial<ConfigSnapshot["settings"]>;
}

/** A config snapshot with what a test names and nothing else; nothing of it waits, and nothing is copied. */
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
      logBodies: "none",
      ledgerDurability: "disk",
      keysStaleMaxMs: 3_600_000,
      ledgerRetentionDays: 1,
      ledgerExport: null,
      explanationRetentionDays: 30,
      captureRetentionDays: 7,
      auditRetentionDays: 3_650,
      drainTimeoutMs: 1,
      videoCopyResults: false,
      retrySent: false,
      unpriced: "block",
      ...settings,
    },
    ...rest,
  };
}
