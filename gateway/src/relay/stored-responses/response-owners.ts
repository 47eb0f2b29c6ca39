import { BoundedMap, bounds } from "#core/index.ts";
import type { LedgerStore, ResponseOwner } from "#ports/index.ts";

/**
 * Which account keeps an answer under an id of its own. Remembered for a while, because the ledger learns of it a
 * moment later; asked of the ledger for older ones, and after a restart.
 */
export class ResponseOwners {
  readonly #store: Pick<LedgerStore, "responseOwner">;
  readonly #recent = new BoundedMap<string, ResponseOwner>(bounds.responseOwnersMax);

  constructor(store: Pick<LedgerStore, "responseOwner">) {
    this.#store = store;
  }

  remember(workspaceId: string, upstreamId: string, responseOwner: ResponseOwner): void {
    this.#recent.set(nameOf(workspaceId, upstreamId), responseOwner);
  }

  /** null: this workspace has made no such answer. */
  async find(workspaceId: string, upstreamId: string): Promise<ResponseOwner | null> {
    const known = this.#recent.get(nameOf(workspaceId, upstreamId));
    if (known !== undefined) return known;
    const found = await this.#store.responseOwner(workspaceId, upstreamId);
    if (found !== null) this.remember(workspaceId, upstreamId, found);
    return found;
  }
}

function nameOf(workspaceId: string, upstreamId: string): string {
  return `${workspaceId}\n${upstreamId}`;
}
