import { bounds } from "#core/index.ts";
import type { Attributes } from "./sdk-types.ts";
import { SharedAttributes } from "./span.ts";

interface Kept<Source> {
  readonly shared: SharedAttributes;
  readonly source: Source;
}

/**
 * Attributes by what they follow from, so that they are put together once and not for each span. Those of one group (a key) are few, and
 * are compared member by member, which costs less than a text of all members.
 */
export class SharedAttributesCache<Source> {
  readonly #isSame: (one: Source, other: Source) => boolean;
  readonly #make: (source: Source) => Attributes;
  readonly #groups = new Map<string, Kept<Source>[]>();
  #size = 0;

  constructor(isSame: (one: Source, other: Source) => boolean, make: (source: Source) => Attributes) {
    this.#isSame = isSame;
    this.#make = make;
  }

  get(group: string, source: Source): SharedAttributes {
    const kept = this.#groups.get(group);
    if (kept !== undefined) {
      for (const one of kept) if (this.#isSame(one.source, source)) return one.shared;
    }
    return this.#add(group, source);
  }

  #add(group: string, source: Source): SharedAttributes {
    if (this.#size >= bounds.sharedAttributesMax) {
      this.#groups.clear();
      this.#size = 0;
    }
    const shared = new SharedAttributes(this.#make(source));
    let kept = this.#groups.get(group);
    if (kept === undefined || kept.length >= bounds.sharedAttributesOfGroupMax) {
      this.#size -= kept?.length ?? 0;
      kept = [];
      this.#groups.set(group, kept);
    }
    kept.push({ shared, source });
    this.#size++;
    return shared;
  }
}
