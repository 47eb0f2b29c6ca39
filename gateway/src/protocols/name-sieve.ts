/**
 * Tells of most names that they are none of those looked for, by their first two bytes, their last one and their length: what a scan can
 * do with every name of a body on its way. A name that gets through may still be another one.
 */
export class NameSieve {
  /** The classes, as bits, of the names that fall on an index. */
  readonly classes = new Uint8Array(sieveSize);

  add(bit: number, names: Iterable<string>): this {
    for (const name of names) {
      const at = sieveIndexOf(name);
      this.classes[at] = (this.classes[at] ?? 0) | bit;
    }
    return this;
  }
}

/** Large enough that hardly any two names fall on one index by chance: whoever hears a name searches the whole body for it. */
export const sieveSize = 4_096;

/** The factors keep the names that nearly every body has (`role`, `content`, `description`) off those that are looked for. */
export function sieveIndex(first: number, second: number, last: number, length: number): number {
  return (Math.imul(first, 13) ^ Math.imul(second, 37) ^ Math.imul(last, 21) ^ Math.imul(length, 61)) & (sieveSize - 1);
}

export function sieveIndexOf(name: string): number {
  const second = name.length > 1 ? name.charCodeAt(1) : QUOTE;
  return sieveIndex(name.charCodeAt(0), second, name.charCodeAt(name.length - 1), name.length);
}

/** What stands behind a name of one byte. */
const QUOTE = 0x22;
