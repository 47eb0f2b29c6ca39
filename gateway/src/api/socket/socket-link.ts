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
  /** A frame that is no text. */
  onBinary(): void;
  /** What was `full` has room again. */
  onRoom(): void;
  onClose(): void;
  /** The gateway is shutting down: nothing new is begun, and the socket ends with what is under way. */
  leave(): void;
  /** Requests that are answered, or wait for it. */
  readonly pending: number;
}

export type OpenSession = (link: SocketLink) => SocketSession;

/** The sessions of one port. */
export class SocketSessions {
  readonly #open = new Map<SocketSession, string>();
  readonly #ofOwner = new Map<string, number>();

  get size(): number {
    return this.#open.size;
  }

  get pending(): number {
    let pending = 0;
    for (const session of this.#open.keys()) pending += session.pending;
    return pending;
  }

  /** Of one key. */
  sizeOf(owner: string): number {
    return this.#ofOwner.get(owner) ?? 0;
  }

  add(session: SocketSession, owner: string): void {
    this.#open.set(session, owner);
    this.#ofOwner.set(owner, this.sizeOf(owner) + 1);
  }

  remove(session: SocketSession): void {
    const owner = this.#open.get(session);
    if (owner === undefined) return;
    this.#open.delete(session);
    const left = this.sizeOf(owner) - 1;
    if (left === 0) this.#ofOwner.delete(owner);
    else this.#ofOwner.set(owner, left);
  }

  leave(): void {
    for (const session of [...this.#open.keys()]) session.leave();
  }
}
