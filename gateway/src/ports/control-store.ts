import type { ConfigFile } from "@sluice/contract/config-file";
import type { AuditAction, AuditObject, Conflict } from "@sluice/contract/words";
import type { ApiKey, ConfigSnapshot, Secret } from "#core/index.ts";
import type { ConfigStore } from "./config-store.ts";
import type { TenantStore } from "./tenant-store.ts";

/** Finds keys by the digest of their secret (hex). The secret itself never reaches a store. */
export interface KeyStore {
  find(digest: string): Promise<ApiKey | null>;
}

/** Selects keys. `search`: a part of the name. */
export interface LimitedKeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly keyId?: string;
  /** Whose calls they make. */
  readonly ownerId?: string;
  /** Whose keys alone are given of those that make somebody's calls. */
  readonly seenPerson?: string;
}

/** A service token whose end is near. */
export interface EndingToken {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface ManagedNames {
  readonly kind: string;
  readonly names: readonly string[];
}

/** The whole configuration as a config file, and the names of what the config file owns. */
export interface ConfigExport {
  readonly config: ConfigFile;
  readonly manages: readonly ManagedNames[];
  /** Some keys were left out: there are more than an export holds. */
  readonly keysLeftOut: boolean;
}

/** One object that `apply` changed. `before` and `after` hold no secrets. */
export interface ConfigChange {
  readonly action: AuditAction;
  readonly object: AuditObject;
  /** In words: `created model gpt-5`, `suspended key acme/ci`. */
  readonly text: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Empty when nothing changed. */
export type ApplyReport = readonly ConfigChange[];

export interface ApplyOptions {
  /** Refuses removals that look like a file that was read half-written. */
  readonly refuseLargeRemovals?: boolean;
}

/** What applying a file would do. */
export interface ConfigPlan {
  readonly changes: ApplyReport;
  /** Removals that look like a file that was read half-written. */
  readonly largeRemovals: readonly Conflict[];
}

export interface ControlStore extends KeyStore, ConfigStore, TenantStore {
  keyById(id: string): Promise<ApiKey | null>;
  /** The whole config snapshot, as a frozen snapshot of one moment. */
  configSnapshot(): Promise<ConfigSnapshot>;
  /**
   * Makes the objects of the config file equal to `config`, in one transaction. What it no longer declares is suspended. Other
   * objects do not change. Idempotent. Throws ConfigConflict.
   */
  apply(config: ConfigFile, actor: string, options?: ApplyOptions): Promise<ApplyReport>;
  /** What `apply` would do. Nothing is changed. Throws ConfigConflict. */
  plan(config: ConfigFile, actor: string): Promise<ConfigPlan>;
  /** Makes the first providers and models. They belong to the console. Does nothing if there are any already. */
  seed(config: ConfigFile, actor: string): Promise<ApplyReport>;
  /** Secrets are replaced by names of variables. `isSecret` says which settings of a kind are secrets. */
  exportConfig(isSecret: (kind: string, setting: string) => boolean): Promise<ConfigExport>;
  /** Keys that are not revoked and have their own limit or budget. */
  limitedKeys(filter: LimitedKeyFilter, limit: number): Promise<readonly ApiKey[]>;
  /** Service tokens in use that expire within a time (Unix milliseconds, `until` included), the next first. */
  endingTokens(
    workspaceIds: readonly string[],
    after: number,
    until: number,
    limit: number,
  ): Promise<readonly EndingToken[]>;
}

export type Change = { readonly kind: "config" } | { readonly kind: "key"; readonly digest: string };

/** Reports the changes that any process makes, this one included, within bounds.changePollMs. */
export interface ChangeFeed {
  /** Calls `listener` for each change, in order, until the returned function is called; all that is written once `catchUp` has resolved is told. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Resolves when all changes written until now were reported. For a process that must see its own writes at once. */
  catchUp(): Promise<void>;
  /** Monotonic milliseconds: every change written before then was reported. */
  readonly currentAtMs: number;
}

/** Holds the master key. Makes digests of API keys; encrypts (seals) and decrypts (opens) the secrets of providers. */
export interface Vault {
  /** HMAC-SHA-256 with the server's pepper, hex. Synchronous, because every call needs it. */
  digest(secret: string): string;
  /** AES-256-GCM. `rowId` is authenticated with it: a sealed value does not open in another row. */
  seal(secret: Secret, rowId: string): string;
  open(sealed: string, rowId: string): Secret;
  /** A secret for one purpose and one id, base64url. It changes only with the master key, and does not reveal it. */
  derive(purpose: string, id: string): string;
  /** The current one first, then those of earlier master keys whose signatures are valid at `now` (Unix milliseconds). */
  deriveValid(purpose: string, id: string, now: number): readonly string[];
  /** The current one first, then those of all earlier master keys, to open what was encrypted with them. */
  deriveAll(purpose: string, id: string): readonly VersionedSecret[];
}

export interface VersionedSecret {
  /** Counts the master keys; from 1. */
  readonly version: number;
  readonly value: string;
}
