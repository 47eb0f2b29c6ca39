import { BoundedMap } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Clock } from "#ports/index.ts";

/** Size of the cache, and how long an entry is valid. */
const keyNamesMax = 10_000;
const keyNameMs = 30_000;

export interface KeyNamesOptions {
  readonly controlStore: Pick<ControlStore, "keyById">;
  readonly clock: Clock;
}

/** Cached names of keys by id. A deleted key has no name. */
export function keyNames({ controlStore, clock }: KeyNamesOptions) {
  const cached = new BoundedMap<string, string>(keyNamesMax, { life: { clock, ms: keyNameMs } });
  const nameOf = async (id: string): Promise<string> => {
    const name = cached.get(id) ?? (await controlStore.keyById(id))?.name ?? "";
    if (!cached.has(id)) cached.set(id, name);
    return name;
  };
  const namesOf = async (ids: Iterable<string>): Promise<ReadonlyMap<string, string>> => {
    const names = new Map<string, string>();
    for (const id of new Set(ids)) names.set(id, await nameOf(id));
    return names;
  };
  return { nameOf, namesOf };
}
