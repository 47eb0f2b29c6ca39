import table from "../provider-kinds.json" with { type: "json" };

/** One setting of a kind of provider, as a config file writes it. */
export interface KindSetting {
  readonly type: "text" | "secret" | "number" | "boolean" | "select" | "list" | "json";
  readonly help: string | null;
  /** What may be chosen, of a select or a list. */
  readonly options: readonly string[] | null;
}

/**
 * The kinds of providers with the settings that each has, for the JSON Schema of the config file. The gateway's own kinds
 * decide: `gateway/test/write-provider-kinds.ts` writes the table, and a test keeps it equal to them.
 */
export const providerKindSettings = table as unknown as Readonly<Record<string, Readonly<Record<string, KindSetting>>>>;
