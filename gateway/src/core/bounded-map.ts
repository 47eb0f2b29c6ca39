interface BoundedMapOptions<Value> {
  /** How long an entry stands from when it was put, by a clock that never jumps. */
  readonly life?: { readonly clock: { monotonic(): number }; readonly ms: number };
  readonly onLeave?: (value: Value) => void;
}

interface Entry<Value> {
  readonly value: Value;
  /** Monotonic milliseconds. */
  readonly endsAtMs: number;
}

/**
 * A map of at most `max` entries: for one more, the one that was used least recently leaves. With a life, an entry is gone
 * when that is over. `onLeave` is told of what leaves in any of these ways, and of what is replaced.
 *
 * Up to half of its bound nothing can be about to leave, and no order is kept: a use costs one look-up, as in a plain map.
 */
export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #life: BoundedMapOptions<Value>["life"];
  readonly #onLeave: ((value: Value) => void) | null;
  readonly #entries = new Map<Key, Entry<Value>>();

  constructor(max: number, { life, onLeave }: BoundedMapOptions<Value> = {}) {
    this.#max = max;
    this.#life = life;
    this.#onLeave = onLeave ?? null;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** A use of the entry. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#isOver(entry)) {
      this.delete(key);
      return undefined;
    }
    if (this.#entries.size * 2 > this.#max) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  /** The same, but no use: where there are so many that only some of them need to keep an order. */
  peek(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || this.#isOver(entry) ? undefined : entry.value;
  }

  has(key: Key): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !this.#isOver(entry);
  }

  /** Its life begins anew. */
  set(key: Key, value: Value): void {
    this.delete(key);
    if (this.#entries.size >= this.#max) this.#dropOldest();
    const life = this.#life;
    const endsAtMs = life === undefined ? Number.POSITIVE_INFINITY : life.clock.monotonic() + life.ms;
    this.#entries.set(key, { value, endsAtMs });
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#onLeave?.(entry.value);
  }

  clear(): void {
    const entries = this.#onLeave === null ? [] : [...this.#entries.values()];
    this.#entries.clear();
    for (const { value } of entries) this.#onLeave?.(value);
  }

  #isOver({ endsAtMs }: Entry<Value>): boolean {
    return this.#life !== undefined && endsAtMs <= this.#life.clock.monotonic();
  }

  #dropOldest(): void {
    for (const oldest of this.#entries.keys()) {
      this.delete(oldest);
      return;
    }
  }
}
