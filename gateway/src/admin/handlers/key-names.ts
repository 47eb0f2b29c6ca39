import { bounds } from "#core/index.ts";
import type { Clock, ControlStore } from "#ports/index.ts";

interface Known {
  readonly name: string;
  readonly readMs: number;
}

export interface KeyNamesOptions {
  readonly controlStore: Pick<ControlStore, "keyById">;
  readonly clock: Clock;
}

/** What keys are called, by id, remembered for a while. A key that is gone has no name. Bounded: the oldest leave first. */
export class KeyNames {
  readonly #options: KeyNamesOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: KeyNamesOptions) {
    this.#options = options;
  }

  async nameOf(id: string): Promise<string> {
    const { clock, controlStore } = this.#options;
    const known = this.#known.get(id);
    if (known !== undefined && clock.monotonic() - known.readMs < bounds.keyNameMs) return known.name;
    const name = (await controlStore.keyById(id))?.name ?? "";
    this.#known.delete(id);
    this.#known.set(id, { name, readMs: clock.monotonic() });
    if (this.#known.size > bounds.keyNamesMax) this.#forgetOldest();
    return name;
  }

  async namesOf(ids: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    for (const id of new Set(ids)) names.set(id, await this.nameOf(id));
    return names;
  }

  #forgetOldest(): void {
    const oldest = this.#known.keys().next();
    if (oldest.done !== true) this.#known.delete(oldest.value);
  }
}
