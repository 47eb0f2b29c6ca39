/**
 * Ids for the calls of a conversation whose dialect often has none. What is invented depends only on what stands before,
 * so that a history that grows keeps its ids; results without an id answer the first open call of their name.
 */
export class CallIds {
  readonly #given = new Set<string>();
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #count = 0;

  call(id: string | null, name: string): string {
    const used = id ?? this.#invent();
    this.#given.add(used);
    this.#open.push({ id: used, name });
    return used;
  }

  /** The call that a result belongs to; an invented one when there is none. */
  result(id: string | null, name: string): string {
    const at = this.#open.findIndex((call) => (id === null ? call.name === name : call.id === id));
    const found = this.#open[at];
    if (found === undefined) return id ?? this.#invent();
    this.#open.splice(at, 1);
    return found.id;
  }

  #invent(): string {
    for (;;) {
      const id = `call_${this.#count++}`;
      if (!this.#given.has(id)) return id;
    }
  }
}
