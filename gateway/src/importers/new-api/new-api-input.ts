import type { ImportSources } from "../import-sources.ts";
import type { Loose } from "../loose.ts";

export const newApiTables = ["tokens", "channels", "users", "options"] as const;

export interface NewApiInput extends ImportSources {
  readonly tables: Readonly<Record<(typeof newApiTables)[number], readonly Loose[]>>;
}
