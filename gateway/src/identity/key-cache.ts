import { type ApiKey, BoundedMap, bounds, Failure } from "#core/index.ts";
import type { Clock, KeyStore } from "#ports/index.ts";

/** Cached digests without a key. */
const unknownKeyEntriesMax = 10_000;
const unknownKeyMs = 10_000;

/** When to retry if a key cannot be checked. */
const keyRetryAfterMs = 2_000;

export interface KeyCacheOptions {
  readonly store: KeyStore;
  readonly clock: Clock;
  /** Monotonic milliseconds: all changes before then were passed to `forget`. */
  readonly currentAtMs: () => number;
  /** How long cached keys work while the database is unavailable, in milliseconds. */
  readonly staleMaxMs: () => number;
}

/**
 * Caches keys by digest, and for a short time digests without a key, so that neither calls nor guesses read the database. Bounded: the
 * least recently used are evicted. A change notice removes its key. Concurrent calls with an uncached key share one read.
 *
 * A key's age is the time since it was read, or since the change feed was last read to its end, if that was later:
 *
 *   under keyFreshMs    used; read again in the background once every keyRereadMs
 *   under keyAgeMsMax   used; read again in the background
 *   under staleMaxMs    the call waits for a new read; if the database does not answer, the cached key is used
 *   older               the call waits for a new read; if the database does not answer, it is refused
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #clock: Clock;
  readonly #keys = new BoundedMap<string, CachedKey>(bounds.keyCacheEntriesMax);
  readonly #unknownDigests: BoundedMap<string, null>;
  readonly #reading = new Map<string, Promise<ApiKey | null>>();
  /** Counts change notices: a read that began before one must not fill the cache after it. */
  #changes = 0;
  #refreshes = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#clock = options.clock;
    const life = { clock: options.clock, ms: unknownKeyMs };
    this.#unknownDigests = new BoundedMap(unknownKeyEntriesMax, { life });
  }

  /** Throws Failure `storage_unavailable` if the key has to be read and cannot be. */
  find(digest: string): ApiKey | null | Promise<ApiKey | null> {
    const cached = this.#keys.peek(digest);
    if (cached !== undefined) {
      const nowMs = this.#clock.monotonic();
      const ageMs = nowMs - Math.max(cached.readAtMs, this.#options.currentAtMs());
      const isFresh = ageMs < bounds.keyFreshMs;
      if (isFresh && nowMs - cached.readAtMs < bounds.keyRereadMs) return cached.key;
      const staleMaxMs = this.#options.staleMaxMs();
      if (isFresh || ageMs < Math.min(bounds.keyAgeMsMax, staleMaxMs)) {
        this.#refresh(digest, nowMs);
        return cached.key;
      }
      if (ageMs < staleMaxMs) return nowMs < this.#pausedUntilMs ? cached.key : this.#readOrCached(digest);
    }
    if (this.#unknownDigests.get(digest) === null) return null;
    return this.#shared(digest);
  }

  /** Marks a key as recently used, so that the cache keeps it. */
  touch(digest: string): void {
    this.#keys.get(digest);
  }

  forget(digest: string): void {
    this.#changes++;
    this.#keys.delete(digest);
    this.#unknownDigests.delete(digest);
    this.#reading.delete(digest);
  }

  /** Reads the key again in the background. The next call retries a failure. */
  #refresh(digest: string, nowMs: number): void {
    if (this.#reading.has(digest)) return;
    if (this.#refreshes >= bounds.keyRefreshesMax || nowMs < this.#pausedUntilMs) return;
    this.#refreshes++;
    void this.#read(digest)
      .catch(() => this.#pauseReads())
      .finally(() => this.#refreshes--);
  }

  /** After a failure, calls do not wait for reads for a while. */
  #pauseReads(): void {
    this.#pausedUntilMs = this.#clock.monotonic() + bounds.keyRefreshRestMs;
  }

  async #readOrCached(digest: string): Promise<ApiKey | null> {
    try {
      return await this.#shared(digest);
    } catch (thrown) {
      this.#pauseReads();
      // A change notice may have removed it meanwhile.
      const cached = this.#keys.peek(digest);
      if (cached === undefined || !isUnavailable(thrown)) throw thrown;
      return cached.key;
    }
  }

  async #shared(digest: string): Promise<ApiKey | null> {
    try {
      return await (this.#reading.get(digest) ?? this.#read(digest));
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
      const message = "Cannot check the API key because the database does not answer. Try again.";
      throw new Failure("storage_unavailable", message, { cause: thrown, retryAfterMs: keyRetryAfterMs });
    }
  }

  async #read(digest: string): Promise<ApiKey | null> {
    const changes = this.#changes;
    const startedMs = this.#clock.monotonic();
    const reading = this.#options.store.find(digest).then((key) => {
      if (this.#changes === changes) this.#remember(digest, key, startedMs);
      return key;
    });
    this.#reading.set(digest, reading);
    try {
      return await reading;
    } finally {
      if (this.#reading.get(digest) === reading) this.#reading.delete(digest);
    }
  }

  #remember(digest: string, key: ApiKey | null, startedMs: number): void {
    if (key !== null) this.#keys.set(digest, { key, readAtMs: startedMs });
    else {
      this.#keys.delete(digest);
      this.#unknownDigests.set(digest, null);
    }
  }
}

interface CachedKey {
  readonly key: ApiKey;
  /** Monotonic milliseconds. */
  readonly readAtMs: number;
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "storage_unavailable";
}
