import {
  type ApiKey,
  BoundedMap,
  type ConfigSnapshot,
  Failure,
  type HeaderReader,
  type Principal,
  personDigest,
  personOf,
  scopesOf,
  sessionDigest,
} from "#core/index.ts";
import type { Change, Clock, KeyStore, Vault } from "#ports/index.ts";
import { addressAllowed } from "./address-rule.ts";
import { AccessTokens, looksLikeAccessToken } from "./agents/access-tokens.ts";
import { readCredential, unknownKey } from "./credentials.ts";
import { KeyCache } from "./key-cache.ts";

export interface AuthenticatorOptions {
  readonly vault: Vault;
  readonly keyStore: KeyStore;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  /** Monotonic milliseconds: every change before then was told to `changed`. */
  readonly changesKnownAtMs: () => number;
}

interface CachedPrincipal {
  readonly configSnapshot: ConfigSnapshot;
  readonly principal: Principal;
}

/** Busy keys whose digest is not worked out for each call. */
const digestsMax = 1_000;

/**
 * Says who is calling. The secret is digested with the server's pepper and found by digest in a bounded cache or
 * an index, so no comparison depends on how much of a guess was right. A known caller is answered synchronously.
 */
export class Authenticator {
  readonly #vault: Vault;
  readonly #configSnapshot: () => ConfigSnapshot;
  readonly #clock: Clock;
  readonly #tokens: AccessTokens;
  readonly #cache: KeyCache;
  readonly #principals = new WeakMap<ApiKey, CachedPrincipal>();
  /** By secret, found by its hash. Whether the key still opens is asked with every call all the same. */
  readonly #digests = new BoundedMap<string, string>(digestsMax);
  #calls = 0;

  constructor(options: AuthenticatorOptions) {
    this.#vault = options.vault;
    this.#configSnapshot = options.configSnapshot;
    this.#clock = options.clock;
    this.#tokens = new AccessTokens(options.vault, options.clock);
    this.#cache = new KeyCache({
      store: options.keyStore,
      clock: options.clock,
      currentAtMs: options.changesKnownAtMs,
      staleMaxMs: () => options.configSnapshot().settings.keysStaleMaxMs,
    });
  }

  /** `address` is asked only when the key is bound to addresses. Throws Failure (401, 403). */
  authenticate(headers: HeaderReader, address: () => string): Principal | Promise<Principal> {
    const credential = readCredential(headers);
    if (looksLikeAccessToken(credential)) return this.#person(credential, address);
    const digest = this.#digests.peek(credential) ?? this.#vault.digest(credential);
    const key = this.#cache.find(digest);
    if (key instanceof Promise) return key.then((found) => this.#admit(found, address));
    // One hit in 64 refreshes its place in the caches: enough to keep what is used.
    if (key !== null && (++this.#calls & 63) === 0) {
      this.#cache.touch(digest);
      this.#digests.set(credential, digest);
    }
    return this.#admit(key, address);
  }

  /**
   * A key as a caller, for whoever may use it without its secret. Throws as `authenticate` does, but for the addresses that
   * the key is bound to: those are about who has the secret.
   */
  principalOf(key: ApiKey): Principal {
    if (key.personId !== undefined) {
      throw new Failure("forbidden", "This key is that of somebody's sign-ins. Only their agents call with it.");
    }
    this.#checkUsable(key);
    return this.#principal(key);
  }

  /** Takes a change notice: what it names is read again at its next use. */
  changed(change: Change): void {
    if (change.kind === "key") this.#cache.forget(change.digest);
  }

  /**
   * The caller of an access token. The sign-in and the key that it calls with stand in the same cache as keys, each under a digest of its
   * own, and each is dropped by a notice when it ends: a signature alone lets nobody in.
   */
  #person(token: string, address: () => string): Principal | Promise<Principal> {
    const { sessionId, keyId } = this.#tokens.read(token);
    const [one, other] = [sessionDigest(sessionId), personDigest(keyId)];
    const session = this.#cache.find(one);
    const key = this.#cache.find(other);
    if (session instanceof Promise || key instanceof Promise) {
      return Promise.all([session, key]).then((found) => this.#admitPerson(...found, address));
    }
    if (key !== null && (++this.#calls & 63) === 0) {
      this.#cache.touch(one);
      this.#cache.touch(other);
    }
    return this.#admitPerson(session, key, address);
  }

  #admitPerson(session: ApiKey | null, key: ApiKey | null, address: () => string): Principal {
    if (session === null || key === null || session.id !== key.id) {
      throw new Failure("invalid_api_key", "This sign-in has ended. Sign in again.");
    }
    return this.#admit(key, address);
  }

  #admit(key: ApiKey | null, address: () => string): Principal {
    if (key === null) throw unknownKey();
    this.#checkUsable(key);
    if (key.allowedIps !== null && !addressAllowed(key.allowedIps, address())) {
      throw new Failure("ip_not_allowed", "The API key may not be used from this address.");
    }
    return this.#principal(key);
  }

  #checkUsable(key: ApiKey): void {
    if (!key.enabled) throw new Failure("disabled_api_key", "The API key is disabled.");
    if (key.expiresAt !== null && key.expiresAt <= this.#clock.now()) {
      throw new Failure("expired_api_key", "The API key has expired.");
    }
    if (key.secretUntil !== undefined && key.secretUntil <= this.#clock.now()) {
      throw new Failure("expired_api_key", "The API key was given a new secret, and the time of this one is over.");
    }
  }

  /** The principal of a key under the config snapshot in force, made once per snapshot. */
  #principal(key: ApiKey): Principal {
    const configSnapshot = this.#configSnapshot();
    const cached = this.#principals.get(key);
    if (cached !== undefined && cached.configSnapshot === configSnapshot) return cached.principal;
    const workspace = configSnapshot.workspaces.get(key.workspaceId);
    const group = configSnapshot.groups.get(key.groupId);
    if (workspace === undefined || group === undefined) throw unknownKey();
    if (!workspace.enabled) throw new Failure("forbidden", "The workspace of this API key is disabled.");
    const principal: Principal = Object.freeze({
      key,
      group,
      workspace,
      person: personOf(key),
      scopes: scopesOf(workspace, group, key),
    });
    this.#principals.set(key, { configSnapshot, principal });
    return principal;
  }
}
