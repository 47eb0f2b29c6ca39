/** Whose room it is. A caller's Principal is one. */
export interface MemoryOwner {
  readonly key: { readonly id: string };
  readonly workspace: { readonly id: string };
}

/** Of what was made by a call of a key. */
export function ownerOf(made: { readonly keyId: string; readonly workspaceId: string }): MemoryOwner {
  return { key: { id: made.keyId }, workspace: { id: made.workspaceId } };
}

/** Why there is no room: the key or its workspace has its share, or nothing is left for anybody. */
export type ShareProblem = "key" | "workspace" | "all";

/** Several keys of one workspace may hold this many times as much as one of them. */
const workspaceWeight = 3;
const holdersKeptMin = 1_024;

class Holder {
  used = 0;
}

/**
 * Room that callers share without fixed parts: a key may hold as much as it leaves free. One key alone takes half of the room, two take a third
 * each, and whoever comes next finds room in any case. Its workspace may hold three times as much as is free.
 */
export class FairShare {
  readonly max: number;
  #used = 0;
  readonly #keys = new Holders();
  readonly #workspaces = new Holders();

  constructor(max: number) {
    this.max = max;
  }

  get used(): number {
    return this.#used;
  }

  usedBy({ key }: Pick<MemoryOwner, "key">): number {
    return this.#keys.of(key.id).used;
  }

  /**
   * Takes `more` for something that holds `held`, or says why not; then nothing is taken. `weight`: times what is free, of what matters more
   * than the rest.
   */
  take({ key, workspace }: MemoryOwner, more: number, weight = 1, held = 0): ShareProblem | null {
    const ofKey = this.#keys.of(key.id);
    const ofWorkspace = this.#workspaces.of(workspace.id);
    const free = this.max - this.#used - more;
    if (free < 0 || ofKey.used + more > weight * free || ofWorkspace.used + more > workspaceWeight * weight * free) {
      const wanted = held + more;
      return problemOf(ofKey.used - held, ofWorkspace.used - held, wanted, { free, weight });
    }
    this.#add(ofKey, ofWorkspace, more);
    return null;
  }

  /** Changes what is held without asking: less, or what is here already. */
  add({ key, workspace }: MemoryOwner, more: number): void {
    this.#add(this.#keys.of(key.id), this.#workspaces.of(workspace.id), more);
  }

  #add(ofKey: Holder, ofWorkspace: Holder, more: number): void {
    ofKey.used += more;
    ofWorkspace.used += more;
    this.#used += more;
  }
}

/** Whether it would fit if the key, or its workspace, held nothing. */
function problemOf(
  ofKey: number,
  ofWorkspace: number,
  more: number,
  { free, weight }: { readonly free: number; readonly weight: number },
): ShareProblem {
  if (more <= weight * (free + ofKey)) return ofKey > 0 ? "key" : "workspace";
  return more <= weight * (free + ofWorkspace) ? "workspace" : "all";
}

/** Those that hold nothing stay until there are many: most come again at once. */
class Holders {
  readonly #holders = new Map<string, Holder>();
  #sweepAt = holdersKeptMin;

  of(id: string): Holder {
    let holder = this.#holders.get(id);
    if (holder === undefined) {
      if (this.#holders.size >= this.#sweepAt) this.#sweep();
      holder = new Holder();
      this.#holders.set(id, holder);
    }
    return holder;
  }

  #sweep(): void {
    for (const [id, { used }] of this.#holders) if (used === 0) this.#holders.delete(id);
    this.#sweepAt = Math.max(holdersKeptMin, 2 * this.#holders.size);
  }
}
