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
