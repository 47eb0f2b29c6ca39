import { bounds } from "#core/index.ts";
import type { AnswerKeeper, LedgerStore } from "#ports/index.ts";

/**
 * Which account keeps an answer under an id of its own. Remembered for a while, because the ledger learns of it a
 * moment later; asked of the ledger for older ones, and after a restart.
 */
export class Keepers {
  readonly #store: Pick<LedgerStore, "keeper">;
  /** In the order of their last use. */
  readonly #recent = new Map<string, AnswerKeeper>();

  constructor(store: Pick<LedgerStore, "keeper">) {
    this.#store = store;
  }

  remember(workspaceId: string, upstreamId: string, keeper: AnswerKeeper): void {
    const name = nameOf(workspaceId, upstreamId);
    this.#recent.delete(name);
    this.#recent.set(name, keeper);
    if (this.#recent.size <= bounds.keepersMax) return;
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest);
      return;
    }
  }

  /** null: this workspace has made no such answer. */
  async find(workspaceId: string, upstreamId: string): Promise<AnswerKeeper | null> {
    const known = this.#recent.get(nameOf(workspaceId, upstreamId));
    if (known !== undefined) return known;
    const found = await this.#store.keeper(workspaceId, upstreamId);
    if (found !== null) this.remember(workspaceId, upstreamId, found);
    return found;
  }
}

function nameOf(workspaceId: string, upstreamId: string): string {
  return `${workspaceId}\n${upstreamId}`;
}
