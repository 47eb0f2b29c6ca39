import type { Socket } from "bun";
import type { ConnectionPlace } from "./caller-connections.ts";

/** Why TLS was not agreed upon: `late`, the caller went first, or what the TLS library calls it. */
export type HandshakeProblem = (problem: string, address: string) => void;

interface Handshake {
  /** Of a socket that was reset it is no longer known. */
  readonly address: string;
  /** The turn of the wheel at which its time is over. */
  readonly dueAt: number;
  readonly place: ConnectionPlace;
}

/** Callers with whom TLS is not agreed upon yet. */
export class Handshakes<Data> {
  readonly #open = new Map<Socket<Data>, Handshake>();
  readonly #problem: HandshakeProblem;

  constructor(problem: HandshakeProblem) {
    this.#problem = problem;
  }

  get size(): number {
    return this.#open.size;
  }

  begin(socket: Socket<Data>, place: ConnectionPlace, dueAt: number): void {
    this.#open.set(socket, { address: socket.remoteAddress, place, dueAt });
  }

  /** Its place; null: it was given up before. */
  done(socket: Socket<Data>): ConnectionPlace | null {
    const place = this.#open.get(socket)?.place ?? null;
    this.#open.delete(socket);
    return place;
  }

  /** The runtime closes it by itself. `thrown` is null when the socket has closed; after a reset the runtime reports nothing else. */
  failed(socket: Socket<Data>, thrown: Error | null): void {
    const handshake = this.#open.get(socket);
    if (handshake === undefined) return;
    this.#open.delete(socket);
    handshake.place.release();
    this.#problem(problemOf(thrown), handshake.address);
  }

  tick(now: number): void {
    for (const [socket, { address, place, dueAt }] of this.#open) {
      if (dueAt > now) continue;
      this.#open.delete(socket);
      place.release();
      this.#problem("late", address);
      socket.terminate();
    }
  }

  /** Nothing was asked on any of them, so each can be made again elsewhere. */
  cut(): void {
    const all = [...this.#open];
    this.#open.clear();
    for (const [socket, { place }] of all) {
      place.release();
      socket.terminate();
    }
  }
}

/** BoringSSL's own word is the last of its text, as in `error:1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST`. */
function problemOf(thrown: Error | null): string {
  const word = /:([A-Z0-9_]+)$/.exec(thrown?.message ?? "")?.[1];
  return word?.toLowerCase() ?? "gone";
}
