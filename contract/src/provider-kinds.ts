import table from "../provider-kinds.json" with { type: "json" };

/** A setting of a provider type in the config file. */
export interface KindSetting {
  readonly type: "text" | "secret" | "number" | "boolean" | "select" | "list" | "json";
  readonly help: string | null;
  /** Choices of a select or a list. */
  readonly options: readonly string[] | null;
}

/**
 * Settings by provider type, for the JSON Schema of the config file. `gateway/test/write-provider-kinds.ts` generates the table from
 * the gateway's provider types, and a test compares them.
 */
export const providerKindSettings = table as unknown as Readonly<Record<string, Readonly<Record<string, KindSetting>>>>;
