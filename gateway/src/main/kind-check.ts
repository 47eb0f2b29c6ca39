import type { ConfigCheck } from "#config/index.ts";
import { providerKind } from "#providers/index.ts";
import { kindConflicts } from "#storage/index.ts";

/** What a provider of a kind has unless it is told otherwise; null when there is no such kind. */
export function kindDefaults(kind: string): { readonly baseUrl: string | null } | null {
  const known = providerKind(kind);
  return known === null ? null : { baseUrl: known.baseUrl };
}

/** Every provider of a config file is of a kind there is, and has an address. */
export const kindCheck: ConfigCheck = (config) => kindConflicts(config.providers ?? [], kindDefaults);
