import { BoundedMap, bounds, type CallSignal } from "#core/index.ts";
import type { Clock, LedgerStore, ResponseOwner } from "#ports/index.ts";

export interface ResponseOwnersOptions {
  readonly ledgerStore: Pick<LedgerStore, "responseOwner">;
  readonly clock: Pick<Clock, "after">;
  /** Other processes put their calls into the same ledger. */
  readonly sharesLedger?: boolean;
}

/**
 * Which account keeps an answer under an id of its own. Remembered for a while, because the ledger learns of it a
 * moment later; asked of the ledger for older ones, and after a restart. What another process has made a moment ago is waited for
 * until its journal has drained.
 */
export class ResponseOwners {
  readonly #options: ResponseOwnersOptions;
  readonly #recent = new BoundedMap<string, ResponseOwner>(bounds.responseOwnersMax);

  constructor(options: ResponseOwnersOptions) {
    this.#options = options;
  }

  remember(workspaceId: string, upstreamId: string, responseOwner: ResponseOwner): void {
    this.#recent.set(nameOf(workspaceId, upstreamId), responseOwner);
  }

  /** null: this workspace has made no such answer. */
  async find(workspaceId: string, upstreamId: string, signal: CallSignal): Promise<ResponseOwner | null> {
    const known = this.#recent.get(nameOf(workspaceId, upstreamId));
    if (known !== undefined) return known;
    const { ledgerStore, sharesLedger } = this.#options;
    let waitMs: number = bounds.responseOwnerWaitMs;
    for (;;) {
      const found = await ledgerStore.responseOwner(workspaceId, upstreamId);
      if (found !== null) this.remember(workspaceId, upstreamId, found);
      if (found !== null || sharesLedger !== true || waitMs > bounds.responseOwnerWaitMsMax) return found;
      await this.#pause(waitMs, signal);
      if (signal.aborted) return null;
      waitMs *= 2;
    }
  }

  #pause(ms: number, signal: CallSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#options.clock.after(ms, resolve);
    const gone = (): void => {
      stop();
      resolve();
    };
    signal.addEventListener("abort", gone, { once: true });
    return promise.finally(() => signal.removeEventListener("abort", gone));
  }
}

function nameOf(workspaceId: string, upstreamId: string): string {
  return `${workspaceId}\n${upstreamId}`;
}
