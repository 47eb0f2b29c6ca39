import type { Socket } from "bun";
import type { ConnectionPlace } from "./caller-connections.ts";

/** Why a TLS handshake failed: `late`, `gone`, or the TLS library's code. */
export type HandshakeProblem = (problem: string, address: string) => void;

interface Handshake {
  /** Kept here, because a socket that was reset no longer has it. */
  readonly address: string;
  /** The tick at which it times out. */
  readonly dueAt: number;
  readonly place: ConnectionPlace;
}

/** TLS handshakes that are under way. */
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

  /** The handshake succeeded. Returns its slot; null: it had timed out. */
  done(socket: Socket<Data>): ConnectionPlace | null {
    const place = this.#open.get(socket)?.place ?? null;
    this.#open.delete(socket);
    return place;
  }

  /** The handshake failed; the runtime closes the socket. `thrown`: null if the socket closed, the only event after a reset. */
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

  /** Closes all. No request was sent on them, so their callers can reconnect elsewhere. */
  cut(): void {
    const all = [...this.#open];
    this.#open.clear();
    for (const [socket, { place }] of all) {
      place.release();
      socket.terminate();
    }
  }
}

/** BoringSSL's code is the last part of its text, as in `error:1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST`. */
function problemOf(thrown: Error | null): string {
  const code = /:([A-Z0-9_]+)$/.exec(thrown?.message ?? "")?.[1];
  return code?.toLowerCase() ?? "gone";
}
