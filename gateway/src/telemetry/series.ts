/**
 * What is kept for one label value, made once, so that counting looks nothing up but this. The first `max` values have
 * their own; every later one shares `other`.
 */
export class Series<Value extends string | number, Child> {
  readonly #children = new Map<Value, Child>();
  readonly #max: number;
  readonly #make: (value: Value | "other") => Child;
  #other: Child | null = null;

  constructor(max: number, make: (value: Value | "other") => Child) {
    this.#max = max;
    this.#make = make;
  }

  of(value: Value): Child {
    return this.#children.get(value) ?? this.#add(value);
  }

  /** What was made so far, with what the others share. */
  made(): readonly Child[] {
    return this.#other === null ? [...this.#children.values()] : [...this.#children.values(), this.#other];
  }

  #add(value: Value): Child {
    if (this.#children.size >= this.#max) {
      this.#other ??= this.#make("other");
      return this.#other;
    }
    const child = this.#make(value);
    this.#children.set(value, child);
    return child;
  }
}
