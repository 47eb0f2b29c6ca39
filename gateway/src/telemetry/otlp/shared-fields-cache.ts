import { bounds } from "#core/index.ts";
import type { SharedFields } from "./span.ts";

interface Kept<Source> {
  readonly shared: SharedFields;
  readonly source: Source;
}

/**
 * What records have alike, by what it follows from, so that it is put together once and not for each span. Those of one group (a key) are few, and
 * are compared member by member, which costs less than a text of all members.
 */
export class SharedFieldsCache<Source> {
  readonly #isSame: (one: Source, other: Source) => boolean;
  readonly #make: (source: Source) => SharedFields;
  readonly #groups = new Map<string, Kept<Source>[]>();
  #size = 0;
  /** The next one is often the same. */
  #last: Kept<Source> | null = null;

  constructor(isSame: (one: Source, other: Source) => boolean, make: (source: Source) => SharedFields) {
    this.#isSame = isSame;
    this.#make = make;
  }

  get(group: string, source: Source): SharedFields {
    if (this.#last !== null && this.#isSame(this.#last.source, source)) return this.#last.shared;
    const kept = this.#groups.get(group);
    if (kept !== undefined) {
      for (const one of kept) {
        if (!this.#isSame(one.source, source)) continue;
        this.#last = one;
        return one.shared;
      }
    }
    return this.#add(group, source);
  }

  #add(group: string, source: Source): SharedFields {
    if (this.#size >= bounds.sharedAttributesMax) {
      this.#groups.clear();
      this.#size = 0;
    }
    const shared = this.#make(source);
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
