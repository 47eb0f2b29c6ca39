import type { ProviderConfig } from "@sluice/contract/config-file";
import type { Transaction } from "kysely";
import type { Ids, Vault } from "#ports/index.ts";
import type { ChangeLog } from "../../changes/change-log.ts";
import type { ManagedBy, Tables } from "../../database/schema.ts";

/**
 * What is known of a kind of provider outside this module, for a provider with these settings; null for a kind nobody
 * knows. `problem` says what is wrong with the settings.
 */
export type KindDefaults = (
  kind: string,
  provider: ProviderConfig,
) => { readonly baseUrl: string | null; readonly problem?: string | null } | null;

/** One apply: its transaction, its moment, and what it has done so far. */
export interface ApplyContext {
  /** Whose the objects become. */
  readonly owner: ManagedBy;
  readonly transaction: Transaction<Tables>;
  readonly log: ChangeLog;
  readonly at: number;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly kindDefaults: KindDefaults;
}
