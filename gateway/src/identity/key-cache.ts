import { type ApiKey, BoundedMap, bounds } from "#core/index.ts";
import type { Clock, KeyStore } from "#ports/index.ts";

/**
 * Known keys by digest, so that a known caller costs no database read. Bounded: the least recently used leave
 * first. Unknown digests are remembered for a short while, so that guessing costs no read either. A change notice
 * drops what it names; concurrent first calls with one key share one read.
 *
 * Whatever happens to notices, nothing older than bounds.keyAgeMsMax is used. A key in use is read anew before that, beside its
 * calls, so that none of them waits; when the database does not answer, calls wait for it from that age on.
 */
export class KeyCache {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, KnownKey>(bounds.keyCacheEntriesMax);
  readonly #unknown: BoundedMap<string, null>;
  readonly #reading = new Map<string, Promise<ApiKey | null>>();
  /** Counts change notices: a read that began before one must not fill the cache after it. */
  #changes = 0;
  #refreshes = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(store: KeyStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#unknown = new BoundedMap(bounds.unknownKeyEntriesMax, { life: { clock, ms: bounds.unknownKeyMs } });
  }

  get size(): number {
    return this.#known.size;
  }

  find(digest: string): ApiKey | null | Promise<ApiKey | null> {
    const known = this.#known.peek(digest);
    if (known !== undefined) {
      const nowMs = this.#clock.monotonic();
      if (nowMs < known.refreshAtMs) return known.key;
      if (nowMs < known.refreshAtMs + graceMs) {
        this.#refresh(digest, nowMs);
        return known.key;
      }
    }
    if (this.#unknown.get(digest) === null) return null;
    return this.#reading.get(digest) ?? this.#read(digest);
  }

  /** A use of a key; told of now and then, not on every hit. */
  touch(digest: string): void {
    this.#known.get(digest);
  }

  forget(digest: string): void {
    this.#changes++;
    this.#known.delete(digest);
    this.#unknown.delete(digest);
    this.#reading.delete(digest);
  }

  forgetAll(): void {
    this.#changes++;
    this.#known.clear();
    this.#unknown.clear();
    this.#reading.clear();
  }

  /** The next call with this key tries again what fails here. */
  #refresh(digest: string, nowMs: number): void {
    if (this.#reading.has(digest)) return;
    if (this.#refreshes >= bounds.keyRefreshesMax || nowMs < this.#restUntilMs) return;
    this.#refreshes++;
    void this.#read(digest)
      .catch(() => {
        this.#restUntilMs = this.#clock.monotonic() + bounds.keyRefreshRestMs;
      })
      .finally(() => this.#refreshes--);
  }

  async #read(digest: string): Promise<ApiKey | null> {
    const changes = this.#changes;
    const askedMs = this.#clock.monotonic();
    const reading = this.#store.find(digest).then((key) => {
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
    if (key !== null) this.#known.set(digest, { key, refreshAtMs: askedMs + bounds.keyRefreshMs });
    else {
      this.#known.delete(digest);
      this.#unknown.set(digest, null);
    }
  }
}

interface KnownKey {
  readonly key: ApiKey;
  /** Monotonic milliseconds. */
  readonly refreshAtMs: number;
}

const graceMs = bounds.keyAgeMsMax - bounds.keyRefreshMs;
