import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import {
  type ApiKey,
  BoundedMap,
  bounds,
  type ConfigSnapshot,
  Failure,
  type HeaderReader,
  importedDigest,
  oncePerObject,
  type Principal,
  personDigest,
  personOf,
  policiesOf,
  policyCaller,
  Secret,
  scopesOf,
  sessionDigest,
} from "#core/index.ts";
import type { Change, Clock, KeyStore, Vault } from "#ports/index.ts";
import { AccessTokens, hasAccessTokenFormat } from "./agents/access-tokens.ts";
import { type AddressRange, rangeOf } from "./key-bounds.ts";
import { KeyCache } from "./key-cache.ts";

/** A credential in a header. */
const credentialBytesMax = 512;

interface AuthenticatorOptions {
  readonly vault: Vault;
  readonly keyStore: KeyStore;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  /** Monotonic milliseconds: all changes before then were passed to `changed`. */
  readonly feedReadAtMs: () => number;
}

interface CachedPrincipal {
  readonly configSnapshot: ConfigSnapshot;
  readonly principal: Principal;
}

/** Number of secrets with a cached digest. */
const digestsMax = 1_000;

/**
 * Identifies the caller. The key is found by the peppered digest of its secret, so timing does not reveal how much of a guess
 * was right. Cached callers are answered synchronously.
 */
export class Authenticator {
  readonly #vault: Vault;
  readonly #keyStore: KeyStore;
  readonly #configSnapshot: () => ConfigSnapshot;
  readonly #clock: Clock;
  readonly #tokens: AccessTokens;
  readonly #cache: KeyCache;
  readonly #principals = new WeakMap<ApiKey, CachedPrincipal>();
  /** By secret, found by its hash. The state of the key is still checked on every call. */
  readonly #digests = new BoundedMap<string, string>(digestsMax);
  /** Digests of imported keys that are being replaced. */
  readonly #adopting = new Set<string>();
  /** After a failure, in monotonic milliseconds. */
  #adoptAgainMs = Number.NEGATIVE_INFINITY;
  #calls = 0;

  constructor(options: AuthenticatorOptions) {
    this.#vault = options.vault;
    this.#keyStore = options.keyStore;
    this.#configSnapshot = options.configSnapshot;
    this.#clock = options.clock;
    this.#tokens = new AccessTokens(options.vault, options.clock);
    this.#cache = new KeyCache({
      store: options.keyStore,
      clock: options.clock,
      currentAtMs: options.feedReadAtMs,
      staleMaxMs: () => options.configSnapshot().settings["keys.stale_max"] * 1_000,
    });
  }

  /** `sent`: headers, or what `readCredential` returned for them. `address`: the caller's. Throws Failure (401, 403). */
  authenticate(sent: HeaderReader | string, address: string): Principal | Promise<Principal> {
    const credential = typeof sent === "string" ? sent : readCredential(sent);
    if (hasAccessTokenFormat(credential)) return this.#person(credential, address);
    const digest = this.#digests.peek(credential) ?? this.#vault.digest(credential);
    const key = this.#cache.find(digest);
    if (key instanceof Promise) {
      return key.then((found) =>
        found === null && this.#hasImportedKeys() ? this.#imported(credential, address) : this.admit(found, address),
      );
    }
    if (key === null && this.#hasImportedKeys()) return this.#imported(credential, address);
    // One hit in 64 refreshes the cache position, which is enough.
    if (key !== null && (++this.#calls & 63) === 0) {
      this.#cache.touch(digest);
      this.#digests.set(credential, digest);
    }
    return this.admit(key, address);
  }

  #hasImportedKeys(): boolean {
    const until = this.#configSnapshot().importedKeysUntil;
    return until !== undefined && this.#clock.now() < until;
  }

  /**
   * The caller with the secret of an imported key. Another gateway knew only its SHA-256; from its first use on the key has a digest as
   * all keys. The call does not wait for that, and does not fail with it: the next one tries again.
   */
  async #imported(credential: string, address: string): Promise<Principal> {
    const digest = importedDigest(this.#vault.digest(sha256(credential)));
    const key = await this.#cache.find(digest);
    const principal = this.admit(key, address);
    // It has another secret already.
    if (key?.secretUntil !== undefined) return principal;
    if (!this.#adopting.has(digest) && this.#clock.monotonic() >= this.#adoptAgainMs) {
      this.#adopting.add(digest);
      void this.#keyStore
        .adoptSecret(digest, new Secret(credential))
        .catch(() => {
          this.#adoptAgainMs = this.#clock.monotonic() + bounds.keyRefreshRestMs;
        })
        .finally(() => this.#adopting.delete(digest));
    }
    return principal;
  }

  /** A key as a caller without its secret. Throws like `authenticate`, except for allowed addresses, which restrict the secret. */
  principalOf(key: ApiKey): Principal {
    this.#checkUsable(key);
    return this.#principal(key);
  }

  /** Handles a change notice: the named objects are read again at their next use. */
  changed(change: Change): void {
    if (change.kind === "key") this.#cache.forget(change.digest);
  }

  /**
   * The caller of an access token. A valid signature is not enough: its sign-in and its key must exist. Both are cached by digest, and
   * change notices remove them.
   */
  #person(token: string, address: string): Principal | Promise<Principal> {
    const { sessionId, keyId } = this.#tokens.read(token);
    const digests = [sessionDigest(sessionId), personDigest(keyId)] as const;
    const session = this.#cache.find(digests[0]);
    const key = this.#cache.find(digests[1]);
    if (session instanceof Promise || key instanceof Promise) {
      return Promise.all([session, key]).then((found) => this.#admitPerson(...found, address));
    }
    if (key !== null && (++this.#calls & 63) === 0) {
      for (const digest of digests) this.#cache.touch(digest);
    }
    return this.#admitPerson(session, key, address);
  }

  #admitPerson(session: ApiKey | null, key: ApiKey | null, address: string): Principal {
    if (session === null || key === null || session.id !== key.id) {
      throw new Failure("invalid_api_key", "This sign-in has ended. Sign in again.");
    }
    return this.admit(key, address);
  }

  /** The caller with a key that was found without its secret; null: it was deleted. Throws like `authenticate`. */
  admit(key: ApiKey | null, address: string): Principal {
    if (key === null) throw unknownKey();
    this.#checkUsable(key);
    if (key.allowedIps !== null && !addressAllowed(key.allowedIps, address)) {
      throw new Failure("ip_not_allowed", "The API key may not be used from this address.");
    }
    const principal = this.#principal(key);
    if (key.shadowIps === undefined || addressAllowed(key.shadowIps, address)) return principal;
    return outsideShadowIps(principal);
  }

  #checkUsable(key: ApiKey): void {
    if (key.revoked === true) throw new Failure("revoked_api_key", "The API key is revoked.");
    if (!key.enabled) throw new Failure("disabled_api_key", "The API key is disabled.");
    if (key.expiresAt !== null && key.expiresAt <= this.#clock.now()) {
      throw new Failure("expired_api_key", "The API key has expired.");
    }
    if (key.secretUntil !== undefined && key.secretUntil <= this.#clock.now()) {
      throw new Failure("expired_api_key", "The API key was rotated and its old secret has expired.");
    }
  }

  /** The principal of a key, built once per config snapshot. */
  #principal(key: ApiKey): Principal {
    const configSnapshot = this.#configSnapshot();
    const cached = this.#principals.get(key);
    if (cached !== undefined && cached.configSnapshot === configSnapshot) return cached.principal;
    const workspace = configSnapshot.workspaces.get(key.workspaceId);
    const group = configSnapshot.groups.get(key.groupId);
    if (workspace === undefined || group === undefined) throw unknownKey();
    if (!workspace.enabled) throw new Failure("forbidden", "The workspace of this API key is disabled.");
    const caller = { key, group, workspace, person: personOf(key) };
    const policies = policiesOf(configSnapshot.budgetPolicies, policyCaller(caller));
    const scopes = scopesOf(workspace, group, key);
    const principal: Principal = Object.freeze({ ...caller, scopes, ...(policies === undefined ? {} : { policies }) });
    this.#principals.set(key, { configSnapshot, principal });
    return principal;
  }
}

/** The principal of calls from other addresses: one object, because limits and models are cached by it. */
const outsideShadowIps = oncePerObject(
  (principal: Principal): Principal => Object.freeze({ ...principal, outsideShadowIps: true }),
);

/** Whether a request has a header for a key. */
export function hasCredential(headers: HeaderReader): boolean {
  return credentialHeaders.some((name) => headers.get(name) !== null);
}

const credentialHeaders = ["authorization", "x-api-key", "x-goog-api-key", "x-bf-vk"] as const;

/**
 * The caller's key: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key` on every endpoint, or `x-bf-vk`, the header of Bifrost.
 * Different keys in one request are refused, since two readers could disagree on the caller. Throws Failure (401).
 */
export function readCredential(headers: HeaderReader): string {
  const authorization = headers.get("authorization");
  const googleKey = headers.get("x-goog-api-key");
  const bifrostKey = headers.get("x-bf-vk");
  const apiKey = headers.get("x-api-key") ?? googleKey ?? bifrostKey;
  const bearer = authorization === null ? null : readBearer(authorization, apiKey !== null);
  if (differ(bearer, apiKey) || differ(googleKey, apiKey) || differ(bifrostKey, apiKey)) {
    throw new Failure(
      "conflicting_credentials",
      "The headers Authorization, x-api-key, x-goog-api-key and x-bf-vk contain different keys. Send one key.",
    );
  }
  const credential = bearer ?? apiKey;
  if (credential === null || credential === "") {
    throw new Failure(
      "invalid_api_key",
      "No API key was sent. Send it as `Authorization: Bearer <key>`, `x-api-key: <key>` or `x-goog-api-key: <key>`.",
    );
  }
  const lengthMax = hasAccessTokenFormat(credential) ? bounds.accessTokenBytesMax : credentialBytesMax;
  if (credential.length > lengthMax) throw unknownKey();
  return credential;
}

function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function unknownKey(): Failure {
  return new Failure("invalid_api_key", "The API key is invalid.");
}

/** Another scheme is an error, unless the key is in another header and this one is for a proxy. */
function readBearer(authorization: string, otherwise: boolean): string | null {
  const scheme = authorization.slice(0, 7);
  if (scheme !== "Bearer " && scheme.toLowerCase() !== "bearer ") {
    if (otherwise) return null;
    throw new Failure("invalid_api_key", "The Authorization header must be `Bearer <key>`.");
  }
  return authorization.slice(7).trim();
}

/** Parsed ranges by list; lists are frozen. */
const parsed = new WeakMap<readonly string[], readonly AddressRange[]>();

/** Whether one of `ranges` (addresses or CIDR) contains `address`. Never for an invalid address. */
export function addressAllowed(ranges: readonly string[], address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const caller = ipaddr.process(address);
  let list = parsed.get(ranges);
  if (list === undefined) {
    list = ranges.map(rangeOf).filter((range) => range !== null);
    parsed.set(ranges, list);
  }
  return list.some((range) => range[0].kind() === caller.kind() && caller.match(range as [ipaddr.IPv4, number]));
}
