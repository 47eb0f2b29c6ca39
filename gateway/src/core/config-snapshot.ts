import type { Settings as SettingValues } from "@sluice/contract/config-file";
import type { Model, Provider } from "./deployment.ts";
import type { Group, Workspace } from "./principal.ts";

/** A bucket of an S3-compatible store. Its credentials are in the environment. */
export interface LedgerExportPlace {
  readonly bucket: string;
  /** In front of every object's name; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** null: Amazon's own for the region. */
  readonly endpoint: string | null;
}

/** Settings of the installation by their paths, as `contract/src/settings-table.ts` has them; the place of the ledger's copies is whole. */
export type Settings = Omit<SettingValues, "ledger.export"> & { readonly "ledger.export": LedgerExportPlace | null };

/**
 * Everything but the keys that a call needs to know, as one frozen snapshot. It is replaced whole, never edited:
 * a call keeps the snapshot it began with.
 */
export interface ConfigSnapshot {
  readonly version: number;
  readonly workspaces: ReadonlyMap<string, Workspace>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: ReadonlyMap<string, Model>;
  readonly settings: Settings;
  /** When the next price that begins later comes into force, Unix milliseconds: then the config snapshot has to be read again. */
  readonly nextPriceAt?: number;
}
