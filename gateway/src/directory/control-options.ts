import type { ProviderConfig } from "@sluice/contract/config-file";
import type { AuditSource, Clock, Ids, Vault } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Database, type ManagedBy } from "#storage/tables.ts";

/**
 * What is known of a kind of provider outside this module, for a provider with these settings; null for a kind nobody
 * knows. `problem` says what is wrong with the settings.
 */
export type KindDefaults = (
  kind: string,
  provider: ProviderConfig,
) => { readonly baseUrl: string | null; readonly problem?: string | null } | null;

/** What the writing side of the control store stands on. */
export interface ControlOptions {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly kindDefaults: KindDefaults;
}

/** A write of providers, models or settings under way: rows are made for an owner. */
export interface ApplyContext extends ControlOptions, AuditedWrite {
  /** Who owns the objects from now on. */
  readonly owner: ManagedBy;
}

/** A write of the console or the command line. */
export async function consoleWrite<Result>(
  options: ControlOptions,
  auditSource: AuditSource,
  write: (context: ApplyContext) => Promise<Result>,
): Promise<Result> {
  return await auditedWrite({ ...options, owner: "console" as const }, auditSource, write);
}
