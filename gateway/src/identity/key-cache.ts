import { type ApiKey, BoundedMap, bounds } from "#core/index.ts";
import type { Clock, KeyStore } from "#ports/index.ts";

/**
 * Known keys by digest, so that a known caller costs no database read. Bounded: the least recently used leave
 * first. Unknown digests are remembered for a short while, so that guessing costs no read either. A change notice
 * drops what it names; concurrent first calls with one key share one read.
 */
export class KeyCache {
  readonly #store: KeyStore;
  readonly #known = new BoundedMap<string, ApiKey>(bounds.keyCacheEntriesMax);
  readonly #unknown: BoundedMap<string, null>;
  readonly #reading = new Map<string, Promise<ApiKey | null>>();
  /** Counts change notices: a read that began before one must not fill the cache after it. */
  #changes = 0;

  constructor(store: KeyStore, clock: Clock) {
    this.#store = store;
    this.#unknown = new BoundedMap(bounds.unknownKeyEntriesMax, { life: { clock, ms: bounds.unknownKeyMs } });
  }

  get size(): number {
    return this.#known.size;
  }

  find(digest: string): ApiKey | null | Promise<ApiKey | null> {
    const known = this.#known.peek(digest);
    if (known !== undefined) return known;
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

  async #read(digest: string): Promise<ApiKey | null> {
    const changes = this.#changes;
    const reading = this.#store.find(digest).then((key) => {
      if (this.#changes === changes) this.#remember(digest, key);
      return key;
    });
    this.#reading.set(digest, reading);
    try {
      return await reading;
    } finally {
      if (this.#reading.get(digest) === reading) this.#reading.delete(digest);
    }
  }

  #remember(digest: string, key: ApiKey | null): void {
    if (key === null) this.#unknown.set(digest, null);
    else this.#known.set(digest, key);
  }
}
