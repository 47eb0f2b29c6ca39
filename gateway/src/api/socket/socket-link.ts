import type { Failure, MemoryOwner } from "#core/index.ts";

/** One open WebSocket, for its session. */
export interface SocketLink {
  /** `full`: sent, but the next frame has to wait for `onRoom`. `gone`: the socket is closed. */
  send(text: string): "sent" | "full" | "gone";
  close(code: number, reason: string): void;
  /** Closes the connection at once, without a closing frame. */
  cut(): void;
}

/** Receives the events of an open WebSocket. */
export interface SocketSession {
  onText(text: string): void;
  onBinary(): void;
  /** The link is no longer `full`. */
  onRoom(): void;
  onClose(): void;
  /** A message was refused and no more are read: closes the socket after the responses under way. */
  refuse(failure: Failure): void;
  /** The gateway is shutting down: starts no response, and closes the socket after those under way. */
  leave(): void;
  /** Requests that are being answered or waiting. */
  readonly pending: number;
}

export type OpenSession = (link: SocketLink) => SocketSession;

export class SocketSessions {
  readonly #open = new Map<SocketSession, MemoryOwner>();
  readonly #openByOwner = new Map<string, number>();

  get size(): number {
    return this.#open.size;
  }

  get pending(): number {
    let pending = 0;
    for (const session of this.#open.keys()) pending += session.pending;
    return pending;
  }

  /** Open WebSockets of one key or workspace, by its id. */
  sizeOf(id: string): number {
    return this.#openByOwner.get(id) ?? 0;
  }

  add(session: SocketSession, owner: MemoryOwner): void {
    this.#open.set(session, owner);
    for (const { id } of [owner.key, owner.workspace]) this.#openByOwner.set(id, this.sizeOf(id) + 1);
  }

  remove(session: SocketSession): void {
    const owner = this.#open.get(session);
    if (owner === undefined) return;
    this.#open.delete(session);
    for (const { id } of [owner.key, owner.workspace]) {
      const left = this.sizeOf(id) - 1;
      if (left === 0) this.#openByOwner.delete(id);
      else this.#openByOwner.set(id, left);
    }
  }

  leave(): void {
    for (const session of [...this.#open.keys()]) session.leave();
  }
}
