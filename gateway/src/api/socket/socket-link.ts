import type { Failure, MemoryOwner } from "#core/index.ts";

/** One open WebSocket as its session sees it. */
export interface SocketLink {
  /** `full`: it was taken, and no more should come before `onRoom`. `gone`: nobody reads it any more. */
  send(text: string): "sent" | "full" | "gone";
  close(code: number, reason: string): void;
  /** At once, without a word. */
  cut(): void;
}

/** What is told of a WebSocket that was opened. */
export interface SocketSession {
  onText(text: string): void;
  onBinary(): void;
  /** What was `full` has room again. */
  onRoom(): void;
  onClose(): void;
  /** A message cannot be taken: nothing more is read, and the socket ends with what is under way. */
  refuse(failure: Failure): void;
  /** The gateway is shutting down: nothing new is begun, and the socket ends with what is under way. */
  leave(): void;
  /** Requests that are answered, or wait for it. */
  readonly pending: number;
}

export type OpenSession = (link: SocketLink) => SocketSession;

export class SocketSessions {
  readonly #open = new Map<SocketSession, MemoryOwner>();
  readonly #ofOwner = new Map<string, number>();

  get size(): number {
    return this.#open.size;
  }

  get pending(): number {
    let pending = 0;
    for (const session of this.#open.keys()) pending += session.pending;
    return pending;
  }

  /** Of one key or workspace, by its id. */
  sizeOf(id: string): number {
    return this.#ofOwner.get(id) ?? 0;
  }

  add(session: SocketSession, owner: MemoryOwner): void {
    this.#open.set(session, owner);
    for (const { id } of [owner.key, owner.workspace]) this.#ofOwner.set(id, this.sizeOf(id) + 1);
  }

  remove(session: SocketSession): void {
    const owner = this.#open.get(session);
    if (owner === undefined) return;
    this.#open.delete(session);
    for (const { id } of [owner.key, owner.workspace]) {
      const left = this.sizeOf(id) - 1;
      if (left === 0) this.#ofOwner.delete(id);
      else this.#ofOwner.set(id, left);
    }
  }

  leave(): void {
    for (const session of [...this.#open.keys()]) session.leave();
  }
}
