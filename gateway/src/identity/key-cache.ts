import { type ApiKey, BoundedMap, bounds, Failure } from "#core/index.ts";
import type { Clock, KeyStore } from "#ports/index.ts";

/** Cached unknown keys, so that guessing costs no database reads. */
const unknownKeyEntriesMax = 10_000;
const unknownKeyMs = 10_000;

/** When to retry if a key cannot be checked. */
const keyRetryAfterMs = 2_000;

export interface KeyCacheOptions {
  readonly store: KeyStore;
  readonly clock: Clock;
  /** Monotonic milliseconds: all changes before then were passed to `forget`. */
  readonly currentAtMs: () => number;
  /** How long known keys work while the database is down, in milliseconds. */
  readonly staleMaxMs: () => number;
}

/**
 * Known keys by digest, so that a known caller costs no database read. Bounded: the least recently used leave
 * first. Unknown digests are remembered for a short while, so that guessing costs no read either. A change notice
 * drops what it names; concurrent first calls with one key share one read.
 *
 * A key's age is the time since it was read or, later, since the feed of changes was read to its end:
 *
 *   under keyFreshMs    used, and read anew once every keyRereadMs beside the call
 *   under keyAgeMsMax   used, and read anew beside the call
 *   under staleMaxMs    the call waits for it to be read anew; used when the database does not answer
 *   beyond              the call waits, and is refused when the database does not answer
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, KnownKey>(bounds.keyCacheEntriesMax);
  readonly #unknown: BoundedMap<string, null>;
  readonly #reading = new Map<string, Promise<ApiKey | null>>();
  /** Counts change notices: a read that began before one must not fill the cache after it. */
  #changes = 0;
  #refreshes = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#clock = options.clock;
    const life = { clock: options.clock, ms: unknownKeyMs };
    this.#unknown = new BoundedMap(unknownKeyEntriesMax, { life });
  }

  /** Throws Failure `storage_unavailable` where a key would have to be read and cannot be. */
  find(digest: string): ApiKey | null | Promise<ApiKey | null> {
    const known = this.#known.peek(digest);
    if (known !== undefined) {
      const nowMs = this.#clock.monotonic();
      const ageMs = nowMs - Math.max(known.readAtMs, this.#options.currentAtMs());
      const isFresh = ageMs < bounds.keyFreshMs;
      if (isFresh && nowMs - known.readAtMs < bounds.keyRereadMs) return known.key;
      const staleMaxMs = this.#options.staleMaxMs();
      if (isFresh || ageMs < Math.min(bounds.keyAgeMsMax, staleMaxMs)) {
        this.#refresh(digest, nowMs);
        return known.key;
      }
      if (ageMs < staleMaxMs) return nowMs < this.#restUntilMs ? known.key : this.#readOrKnown(digest);
    }
    if (this.#unknown.get(digest) === null) return null;
    return this.#shared(digest);
  }

  /** Marks a key as recently used, so that the cache keeps it. */
  touch(digest: string): void {
    this.#known.get(digest);
  }

  forget(digest: string): void {
    this.#changes++;
    this.#known.delete(digest);
    this.#unknown.delete(digest);
    this.#reading.delete(digest);
  }

  /** The next call with this key tries again. */
  #refresh(digest: string, nowMs: number): void {
    if (this.#reading.has(digest)) return;
    if (this.#refreshes >= bounds.keyRefreshesMax || nowMs < this.#restUntilMs) return;
    this.#refreshes++;
    void this.#read(digest)
      .catch(() => this.#rest())
      .finally(() => this.#refreshes--);
  }

  /** After a failure other calls do not wait for a while. */
  #rest(): void {
    this.#restUntilMs = this.#clock.monotonic() + bounds.keyRefreshRestMs;
  }

  async #readOrKnown(digest: string): Promise<ApiKey | null> {
    try {
      return await this.#shared(digest);
    } catch (thrown) {
      this.#rest();
      // A change notice may have removed it meanwhile.
      const known = this.#known.peek(digest);
      if (known === undefined || !isUnavailable(thrown)) throw thrown;
      return known.key;
    }
  }

  async #shared(digest: string): Promise<ApiKey | null> {
    try {
      return await (this.#reading.get(digest) ?? this.#read(digest));
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
      const message = "The API key cannot be checked: the database does not answer. Try again.";
      throw new Failure("storage_unavailable", message, { cause: thrown, retryAfterMs: keyRetryAfterMs });
    }
  }

  async #read(digest: string): Promise<ApiKey | null> {
    const changes = this.#changes;
    const askedMs = this.#clock.monotonic();
    const reading = this.#options.store.find(digest).then((key) => {
      if (this.#changes === changes) this.#remember(digest, key, askedMs);
      return key;
    });
    this.#reading.set(digest, reading);
    try {
      return await reading;
    } finally {
      if (this.#reading.get(digest) === reading) this.#reading.delete(digest);
    }
  }

  #remember(digest: string, key: ApiKey | null, askedMs: number): void {
    if (key !== null) this.#known.set(digest, { key, readAtMs: askedMs });
    else {
      this.#known.delete(digest);
      this.#unknown.set(digest, null);
    }
  }
}

interface KnownKey {
  readonly key: ApiKey;
  /** Monotonic milliseconds. */
  readonly readAtMs: number;
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "storage_unavailable";
}
