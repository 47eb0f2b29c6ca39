import type { Settings as SettingValues } from "@sluice/contract/config-file";
import type { Model, Provider } from "./deployment.ts";
import type { Guardrail } from "./guardrail.ts";
import type { BudgetPolicy } from "./limit.ts";
import type { Group, Workspace } from "./principal.ts";

/** A bucket of an S3-compatible store. Its credentials are in the environment. */
export interface LedgerExportPlace {
  readonly bucket: string;
  /** Prefix of object names; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** null for Amazon's endpoint of the region. */
  readonly endpoint: string | null;
  readonly formats: readonly ExportFormat[];
}

/** Of the ledger in a bucket: its entries by hour, and FOCUS rows by day. */
type ExportFormat = "jsonl" | "focus";

/** Settings of the installation by path, as in `contract/src/settings-table.ts`, with the ledger export as one object. */
export type Settings = Omit<SettingValues, "ledger.export"> & { readonly "ledger.export": LedgerExportPlace | null };

/**
 * The configuration that calls need, except keys, as one frozen value. It is replaced as a whole; a call keeps the snapshot it started
 * with.
 */
export interface ConfigSnapshot {
  readonly version: number;
  readonly workspaces: ReadonlyMap<string, Workspace>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: ReadonlyMap<string, Model>;
  readonly settings: Settings;
  /** Of the installation and of all workspaces; disabled ones are left out. */
  readonly guardrails: readonly Guardrail[];
  /** Of the installation and of all workspaces; disabled ones are left out. */
  readonly budgetPolicies: readonly BudgetPolicy[];
  /** When the next scheduled price becomes effective, in Unix milliseconds. The snapshot must be reloaded then. */
  readonly nextPriceAt?: number;
  /** Until when secrets may belong to imported keys that were not used yet, in Unix milliseconds. Left out: there are no such keys. */
  readonly importedKeysUntil?: number;
}
