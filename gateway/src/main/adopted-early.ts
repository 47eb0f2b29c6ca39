import { bounds, type LedgerEntry } from "#core/index.ts";

/**
 * What the first look for dead processes' journals found, until there is somebody to be told: by it budgets are read anew. So one entry
 * of each key, group and person on each day is enough, however many thousands there are.
 */
export class AdoptedEarly {
  readonly #entries = new Map<string, LedgerEntry>();

  take(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) {
      if (entry.costNanoUsd === 0 || this.#entries.size >= bounds.journalBacklogMax) continue;
      const { keyId, groupId, workspaceId, personId = "", at } = entry;
      const place = `${keyId} ${groupId} ${workspaceId} ${personId} ${Math.floor(at / dayMs)}`;
      if (!this.#entries.has(place)) this.#entries.set(place, entry);
    }
  }

  /** All of them, once. */
  give(): readonly LedgerEntry[] {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    return entries;
  }
}

const dayMs = 86_400_000;
