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

/**
 * A map of at most `max` entries that belong to tenants. For one more, a tenant that has more than its share gives up its least
 * recently used one, so that no tenant displaces what others keep.
 */
export class TenantMap<Value> {
  readonly #max: number;
  readonly #tenants = new Map<string, Map<string, Value>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** A use of the entry. */
  get(tenant: string, key: string): Value | undefined {
    const own = this.#tenants.get(tenant);
    const value = own?.get(key);
    if (own === undefined || value === undefined) return undefined;
    // While there is room for as many again, nobody asks for the order.
    if (this.#size * 2 > this.#max) {
      own.delete(key);
      own.set(key, value);
    }
    return value;
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
    for (const oldest of entries?.keys() ?? []) {
      entries?.delete(oldest);
      this.#size--;
      break;
    }
    if (entries?.size === 0) this.#tenants.delete(from);
  }
}

/** Makes the value of each object once, and keeps it as long as the object lives. A new config snapshot brings new objects. */
export function oncePerObject<Key extends WeakKey, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      known.set(key, value);
    }
    return value;
  };
}
