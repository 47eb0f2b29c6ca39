import type { ConfigFile } from "@sluice/contract/config-file";
import type { ApiKey, Catalog, Secret } from "#core/index.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { TenantStore } from "./tenant-store.ts";

/** Keys by the digest of their secret (hex). The secret itself never reaches a store. */
export interface KeyStore {
  find(digest: string): Promise<ApiKey | null>;
}

export interface NewKey {
  readonly workspace: string;
  readonly group: string;
  readonly name: string;
  readonly secret: Secret;
  readonly expiresAt: number | null;
  readonly models: readonly string[] | null;
  readonly passThrough?: readonly string[];
  readonly allowedIps: readonly string[] | null;
  readonly limits: { readonly rpm?: number; readonly tpm?: number; readonly concurrency?: number };
  readonly budget: { readonly usd: number; readonly period: "day" | "week" | "month" | "total" } | null;
}

export interface KeyListing extends ApiKey {
  readonly workspaceSlug: string;
  readonly groupName: string;
  /** `file` objects are read-only elsewhere. */
  readonly managedBy: "file" | "console";
}

export interface WorkspaceListing {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly keys: number;
  readonly managedBy: "file" | "console";
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
  /** By id, or by prefix when only one matches. */
  keyNamed(idOrPrefix: string): Promise<KeyListing | null>;
  /** The whole catalog as one frozen snapshot. */
  catalog(): Promise<Catalog>;
  /** Makes the file-managed objects equal to `config`, in one transaction; others are untouched. Idempotent. */
  apply(config: ConfigFile, actor: string): Promise<ApplyReport>;
  /** First providers and models, owned by the console; does nothing where there are any. */
  seed(config: ConfigFile, actor: string): Promise<ApplyReport>;
  createKey(key: NewKey, actor: string): Promise<KeyListing>;
  listKeys(workspace: string | null): Promise<readonly KeyListing[]>;
  /** By id, or by prefix when only one matches. Returns null when there is none. */
  revokeKey(idOrPrefix: string, actor: string): Promise<KeyListing | null>;
  /** Secrets stand as names of variables; `isSecret` says which settings of a kind are secrets. */
  exportConfig(isSecret: (kind: string, setting: string) => boolean): Promise<ConfigExport>;
  /** Keys in use that have a limit or a budget of their own. */
  limitedKeys(filter: LimitedKeyFilter, limit: number): Promise<readonly ApiKey[]>;
  listWorkspaces(): Promise<readonly WorkspaceListing[]>;
  createWorkspace(slug: string, name: string, actor: string): Promise<WorkspaceListing>;
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
