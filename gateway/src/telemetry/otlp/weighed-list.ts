/** What waits to be sent in somebody else's form, with about what each of it takes. */
export class WeighedList<Item> {
  #items: Item[] = [];
  #weights: number[] = [];
  #weight = 0;

  get size(): number {
    return this.#items.length;
  }

  get weight(): number {
    return this.#weight;
  }

  /** How many of the oldest weigh no more than that; one at the least. */
  fitting(weightMax: number): number {
    let weight = 0;
    const over = this.#weights.findIndex((one) => {
      weight += one;
      return weight > weightMax;
    });
    return over === -1 ? this.#weights.length : Math.max(1, over);
  }

  add(item: Item, weight: number): void {
    this.#items.push(item);
    this.#weights.push(weight);
    this.#weight += weight;
  }

  /** The oldest, `size` of them at most. */
  take(size: number): readonly Item[] {
    const taken = this.#items.slice(0, size);
    this.#items = this.#items.slice(size);
    for (const weight of this.#weights.splice(0, size)) this.#weight -= weight;
    return taken;
  }
}
