import type { ApiKey, Secret } from "#core/index.ts";

/** Finds keys by the digest (hex) of their secret. */
export interface KeyStore {
  find(digest: string): Promise<ApiKey | null>;
  /** Stores the digest of an imported key's secret at its first use. Does nothing if another call did. */
  adoptSecret(importedDigest: string, secret: Secret): Promise<void>;
}

export type Change = { readonly kind: "config" } | { readonly kind: "key"; readonly digest: string };

/** Holds the master key. Digests API keys, and seals and opens secrets of providers. */
export interface Vault {
  /** HMAC-SHA-256 with the server's pepper, hex. Synchronous, because every call needs it. */
  digest(secret: string): string;
  /** AES-256-GCM. `rowId` is authenticated with it: a sealed value does not open in another row. */
  seal(secret: Secret, rowId: string): string;
  open(sealed: string, rowId: string): Secret;
  /** A secret for one purpose and id, base64url. It changes only with the master key. */
  derive(purpose: string, id: string): string;
  /** For verifying signatures: the current secret, then secrets from earlier master keys that are still valid at `now` (Unix milliseconds). */
  deriveValid(purpose: string, id: string, now: number): readonly string[];
  /** For decrypting: the current secret, then secrets from all earlier master keys. */
  deriveAll(purpose: string, id: string): readonly VersionedSecret[];
}

export interface VersionedSecret {
  /** Number of the master key, from 1. */
  readonly version: number;
  readonly value: string;
}
