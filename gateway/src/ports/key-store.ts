import type { ApiKey, Secret } from "#core/index.ts";

/** Finds keys by the digest of their secret (hex). The secret itself never reaches a store. */
export interface KeyStore {
  find(digest: string): Promise<ApiKey | null>;
}

export type Change = { readonly kind: "config" } | { readonly kind: "key"; readonly digest: string };

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
