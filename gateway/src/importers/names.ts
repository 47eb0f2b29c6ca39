import { linePattern, nameLengthMax, slugPattern } from "@sluice/contract/words";

/** Makes names unique within a list. */
export class UniqueNames {
  readonly #used = new Set<string>();

  take(wanted: string): string {
    let name = wanted;
    for (let n = 2; this.#used.has(name); n++) name = `${wanted}-${n}`;
    this.#used.add(name);
    return name;
  }
}

/** A slug like the name. `fallback`: for names without latin letters and digits. */
export function slugOf(name: string, fallback: string): string {
  const slug = folded(name);
  return slugPattern.test(slug) ? slug : folded(fallback);
}

/** Leaves room for a number. */
function folded(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 56);
}

/** The name on one line, as short as names must be. */
export function lineOf(name: string): string {
  const line = linePattern.test(name) ? name : name.replaceAll(/\p{Cc}+/gu, " ");
  return line.trim().slice(0, nameLengthMax - 8);
}
