import { BoundedMap } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Clock } from "#ports/index.ts";

/** Names of keys that the console remembers, and how long they count as right. */
const keyNamesMax = 10_000;
const keyNameMs = 30_000;

export interface KeyNamesOptions {
  readonly controlStore: Pick<ControlStore, "keyById">;
  readonly clock: Clock;
}

/** What keys are called, by id, remembered for a while. A key that is gone has no name. */
export class KeyNames {
  readonly #controlStore: KeyNamesOptions["controlStore"];
  readonly #known: BoundedMap<string, string>;

  constructor({ controlStore, clock }: KeyNamesOptions) {
    this.#controlStore = controlStore;
    this.#known = new BoundedMap(keyNamesMax, { life: { clock, ms: keyNameMs } });
  }

  async nameOf(id: string): Promise<string> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const name = (await this.#controlStore.keyById(id))?.name ?? "";
    this.#known.set(id, name);
    return name;
  }

  async namesOf(ids: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    for (const id of new Set(ids)) names.set(id, await this.nameOf(id));
    return names;
  }
}
