interface BoundedMapOptions<Value> {
  /** How long an entry is kept after it was set. */
  readonly life?: { readonly clock: { monotonic(): number }; readonly ms: number };
  readonly onLeave?: (value: Value) => void;
}

interface Entry<Value> {
  readonly value: Value;
  /** Monotonic milliseconds. */
  readonly endsAtMs: number;
}

/**
 * A map of at most `max` entries, which drops the least recently used one. With `life`, entries expire. `onLeave` receives every value
 * that is dropped, expired, deleted or replaced.
 *
 * Below half of `max` the order is not maintained, so that `get` costs one lookup as in a plain map.
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

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#isExpired(entry)) {
      this.delete(key);
      return undefined;
    }
    if (this.#entries.size * 2 > this.#max) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  /** Does not count as a use. */
  peek(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || this.#isExpired(entry) ? undefined : entry.value;
  }

  has(key: Key): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !this.#isExpired(entry);
  }

  /** Restarts the life of the entry. */
  set(key: Key, value: Value): void {
    this.delete(key);
    if (this.#entries.size >= this.#max) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.delete(oldest);
    }
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

  /** Least recently used first, also expired ones. */
  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  clear(): void {
    const entries = this.#onLeave === null ? [] : [...this.#entries.values()];
    this.#entries.clear();
    for (const { value } of entries) this.#onLeave?.(value);
  }

  #isExpired({ endsAtMs }: Entry<Value>): boolean {
    return this.#life !== undefined && endsAtMs <= this.#life.clock.monotonic();
  }
}

/**
 * A map of at most `max` entries that belong to tenants. When it is full, a tenant with more than its share loses its least recently
 * used entry, so that no tenant displaces the entries of others.
 */
export class TenantMap<Value> {
  readonly #max: number;
  readonly #tenants = new Map<string, Map<string, Value>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts as a use. */
  get(tenant: string, key: string): Value | undefined {
    const own = this.#tenants.get(tenant);
    const value = own?.get(key);
    if (own === undefined || value === undefined) return undefined;
    // Below half of the bound the order is not maintained.
    if (this.#size * 2 > this.#max) {
      own.delete(key);
      own.set(key, value);
    }
    return value;
  }

  /** Does not count as a use. */
  valuesOf(tenant: string): Iterable<Value> {
    return this.#tenants.get(tenant)?.values() ?? [];
  }

  set(tenant: string, key: string, value: Value): void {
    const before = this.#tenants.get(tenant);
    if (before?.delete(key) === true) this.#size--;
    else if (this.#size >= this.#max) this.#makeRoom(tenant, before?.size ?? 0);
    const own = this.#tenants.get(tenant) ?? new Map<string, Value>();
    own.set(key, value);
    this.#tenants.set(tenant, own);
    this.#size++;
  }

  #makeRoom(tenant: string, ownSize: number): void {
    const share = this.#size / this.#tenants.size;
    let from = tenant;
    if (ownSize < share) {
      for (const [other, { size }] of this.#tenants) {
        if (size < share) continue;
        from = other;
        break;
      }
    }
    const entries = this.#tenants.get(from);
    const [oldest] = entries?.keys() ?? [];
    if (entries === undefined || oldest === undefined) return;
    entries.delete(oldest);
    this.#size--;
    if (entries.size === 0) this.#tenants.delete(from);
  }
}

/** Computes a value once per object and keeps it as long as the object lives. */
export function oncePerObject<Key extends WeakKey, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) {
      value = make(key);
      values.set(key, value);
    }
    return value;
  };
}
