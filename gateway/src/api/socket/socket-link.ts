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
  readonly #open = new Set<SocketSession>();

  get size(): number {
    return this.#open.size;
  }

  get pending(): number {
    let pending = 0;
    for (const session of this.#open) pending += session.pending;
    return pending;
  }

  add(session: SocketSession): void {
    this.#open.add(session);
  }

  remove(session: SocketSession): void {
    this.#open.delete(session);
  }

  leave(): void {
    for (const session of [...this.#open]) session.leave();
  }
}
