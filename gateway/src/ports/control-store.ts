import type { ConfigFile } from "@sluice/contract/config-file";
import type { ApiKey, Catalog, Secret } from "#core/index.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { TenantStore } from "./tenant-store.ts";

/** Keys by the digest of their secret (hex). The secret itself never reaches a store. */
export interface KeyStore {
  find(digest: string): Promise<ApiKey | null>;
}

/** Which keys; `search` is part of a name. */
export interface LimitedKeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly keyId?: string;
}

export interface ManagedNames {
  readonly kind: string;
  readonly names: readonly string[];
}

/** Everything as a config file, and what the config file owns of it. */
export interface ConfigExport {
  readonly config: ConfigFile;
  readonly manages: readonly ManagedNames[];
  /** There are more keys than an export takes. */
  readonly keysLeftOut: boolean;
}

/** What an apply did, in words: `created model gpt-5`, `removed key acme/ci`. Empty when nothing changed. */
export type ApplyReport = readonly string[];

export interface ControlStore extends KeyStore, CatalogStore, TenantStore {
  keyById(id: string): Promise<ApiKey | null>;
  /** The whole catalog as one frozen snapshot. */
  catalog(): Promise<Catalog>;
  /** Makes the file-managed objects equal to `config`, in one transaction; others are untouched. Idempotent. */
  apply(config: ConfigFile, actor: string): Promise<ApplyReport>;
  /** First providers and models, owned by the console; does nothing where there are any. */
  seed(config: ConfigFile, actor: string): Promise<ApplyReport>;
  /** Secrets stand as names of variables; `isSecret` says which settings of a kind are secrets. */
  exportConfig(isSecret: (kind: string, setting: string) => boolean): Promise<ConfigExport>;
  /** Keys in use that have a limit or a budget of their own. */
  limitedKeys(filter: LimitedKeyFilter, limit: number): Promise<readonly ApiKey[]>;
}

export type Change = { readonly kind: "catalog" } | { readonly kind: "key"; readonly digest: string };

/** Tells of changes made by any process, this one included, within bounds.changePollMs. */
export interface ChangeFeed {
  /** Calls `listener` for each change, in order, until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Resolves when everything written until now was told; for a process that goes by its own writes at once. */
  catchUp(): Promise<void>;
}

/** Who holds the master key: digests of API keys and sealed provider secrets. */
export interface Vault {
  /** HMAC-SHA-256 with the server's pepper, hex. Synchronous: it stands on the hot path. */
  digest(secret: string): string;
  /** AES-256-GCM; `rowId` is authenticated with it, so that a sealed value cannot be moved to another row. */
  seal(secret: Secret, rowId: string): string;
  open(sealed: string, rowId: string): Secret;
  /** A secret of its own for a purpose and an id, base64url: the same each time, nothing of the master key in it. */
  derive(purpose: string, id: string): string;
}
