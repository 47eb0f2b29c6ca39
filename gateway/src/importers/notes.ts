import type { NotCarried } from "#ports/index.ts";

/** Collects what cannot be imported, by reason. */
export class Notes {
  readonly #objects = new Map<string, string[]>();

  add(object: string, reason: string): void {
    const objects = this.#objects.get(reason) ?? [];
    objects.push(object);
    this.#objects.set(reason, objects);
  }

  get list(): readonly NotCarried[] {
    return [...this.#objects].map(([reason, objects]) => {
      const more = objects.length > shownMax ? ` and ${objects.length - shownMax} more` : "";
      return { object: `${objects.slice(0, shownMax).join(", ")}${more}`, reason };
    });
  }
}

const shownMax = 5;
