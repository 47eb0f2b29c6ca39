import type { CallSignal } from "#core/index.ts";

/** Rows that run at once, in all and of one workspace. */
const rowsAtOnce = { all: 64, workspace: 16 } as const;

interface Waiter {
  readonly start: (granted: boolean) => void;
}

/** Places for running rows. Workspaces that wait take turns. */
export class RowSlots {
  #used = 0;
  readonly #usedBy = new Map<string, number>();
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();

  get used(): number {
    return this.#used;
  }

  /** Resolves to false if the signal aborts first. */
  take(workspaceId: string, signal: CallSignal): boolean | Promise<boolean> {
    if (signal.aborted) return false;
    if (!this.#waiting.has(workspaceId) && this.#hasRoom(workspaceId)) {
      this.#count(workspaceId, 1);
      return true;
    }
    return new Promise((resolve) => {
      const leave = () => this.#leave(workspaceId, waiter);
      // The signal is the process's, so it would collect a listener for each row.
      const start = (granted: boolean) => {
        signal.removeEventListener("abort", leave);
        resolve(granted);
      };
      const waiter: Waiter = { start };
      const queue = this.#waiting.get(workspaceId) ?? [];
      this.#waiting.set(workspaceId, queue);
      queue.push(waiter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  release(workspaceId: string): void {
    this.#count(workspaceId, -1);
    for (const [waiting, queue] of this.#waiting) {
      if (!this.#hasRoom(waiting)) continue;
      const next = queue.shift();
      this.#waiting.delete(waiting);
      if (queue.length > 0) this.#waiting.set(waiting, queue);
      if (next === undefined) continue;
      this.#count(waiting, 1);
      next.start(true);
      return;
    }
  }

  #hasRoom(workspaceId: string): boolean {
    return this.#used < rowsAtOnce.all && (this.#usedBy.get(workspaceId) ?? 0) < rowsAtOnce.workspace;
  }

  #count(workspaceId: string, change: 1 | -1): void {
    this.#used += change;
    const used = (this.#usedBy.get(workspaceId) ?? 0) + change;
    if (used === 0) this.#usedBy.delete(workspaceId);
    else this.#usedBy.set(workspaceId, used);
  }

  #leave(workspaceId: string, waiter: Waiter): void {
    const queue = this.#waiting.get(workspaceId);
    const at = queue?.indexOf(waiter) ?? -1;
    if (queue === undefined || at === -1) return;
    queue.splice(at, 1);
    if (queue.length === 0) this.#waiting.delete(workspaceId);
    waiter.start(false);
  }
}
