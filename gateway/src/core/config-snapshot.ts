import type { UnpricedPolicy } from "@sluice/contract/config-file";
import type { Model, Provider } from "./deployment.ts";
import type { Group, Workspace } from "./principal.ts";

/** Installation-wide settings. */
/** A bucket of an S3-compatible store. Its credentials are in the environment. */
export interface LedgerExportPlace {
  readonly bucket: string;
  /** In front of every object's name; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** null: Amazon's own for the region. */
  readonly endpoint: string | null;
}

export interface Settings {
  readonly logBodies: "none";
  readonly ledgerDurability: "process" | "disk" | "strict" | "remote";
  readonly ledgerRetentionDays: number;
  /** Where the ledger is copied to by the hour; null: nowhere. */
  readonly ledgerExport: LedgerExportPlace | null;
  /** Of explanations; they never outlive the ledger's entries. */
  readonly explanationRetentionDays: number;
  readonly captureRetentionDays: number;
  readonly auditRetentionDays: number;
  readonly drainTimeoutMs: number;
  /** How long known keys are used while the database does not answer. */
  readonly keysStaleMaxMs: number;
  /** A call that was sent and not answered may be sent to another deployment, although the first may be charged. */
  readonly retrySent: boolean;
  /** What becomes of calls of models that have no price; a model may say otherwise. */
  readonly unpriced: UnpricedPolicy;
  /** Finished videos are copied to our own store, so that they outlive their vendor's link. */
  readonly videoCopyResults: boolean;
}

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
