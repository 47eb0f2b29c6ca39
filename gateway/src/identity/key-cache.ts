import { type ApiKey, bounds } from "#core/index.ts";
import type { Clock, KeyStore } from "#ports/index.ts";

/**
 * Known keys by digest, so that a known caller costs no database read. Bounded: the least recently used leave
 * first. Unknown digests are remembered for a short while, so that guessing costs no read either. A change notice
 * drops what it names; concurrent first calls with one key share one read.
 */
export class KeyCache {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #known = new Map<string, ApiKey>();
  readonly #unknown = new Map<string, number>();
  readonly #reading = new Map<string, Promise<ApiKey | null>>();
  /** Counts change notices: a read that began before one must not fill the cache after it. */
  #changes = 0;

  constructor(store: KeyStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get size(): number {
    return this.#known.size;
  }

  find(digest: string): ApiKey | null | Promise<ApiKey | null> {
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const until = this.#unknown.get(digest);
    if (until !== undefined) {
      if (until > this.#clock.monotonic()) return null;
      this.#unknown.delete(digest);
    }
    return this.#reading.get(digest) ?? this.#read(digest);
  }

  /** Refreshes a key's place in the order of use; called now and then, not on every hit. */
  touch(digest: string, key: ApiKey): void {
    this.#known.delete(digest);
    this.#known.set(digest, key);
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
    if (key === null) {
      dropOldest(this.#unknown, bounds.unknownKeyEntriesMax);
      this.#unknown.set(digest, this.#clock.monotonic() + bounds.unknownKeyMs);
      return;
    }
    dropOldest(this.#known, bounds.keyCacheEntriesMax);
    this.#known.set(digest, key);
  }
}

function dropOldest(entries: Map<string, unknown>, max: number): void {
  if (entries.size < max) return;
  const oldest = entries.keys().next();
  if (!oldest.done) entries.delete(oldest.value);
}
