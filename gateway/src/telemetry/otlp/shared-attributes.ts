import { BoundedMap, bounds } from "#core/index.ts";
import type { Attributes } from "./sdk-types.ts";
import { SharedAttributes } from "./span.ts";

interface Kept {
  readonly shared: SharedAttributes;
  readonly of: object | null;
  readonly and: object | null;
}

/** Attributes by what they follow from, so that they are put together once and not for each span. */
export class SharedAttributesCache {
  readonly #kept = new BoundedMap<string, Kept>(bounds.sharedAttributesMax);

  /** `of`, `and`: objects that they follow from too; others in their place make them anew. */
  get(key: string, of: object | null, and: object | null, make: () => Attributes): SharedAttributes {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.of === of && kept.and === and) return kept.shared;
    const shared = new SharedAttributes(make());
    this.#kept.set(key, { shared, of, and });
    return shared;
  }
}
