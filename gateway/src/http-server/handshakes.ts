import type { Socket } from "bun";

/** Why TLS was not agreed upon: `late`, the caller went first, or what the TLS library calls it. */
export type HandshakeProblem = (problem: string, address: string) => void;

/** Callers with whom TLS is not agreed upon yet, each with the turn of the wheel at which its time is over. */
export class Handshakes<Data> {
  readonly #dueAt = new Map<Socket<Data>, number>();
  readonly #problem: HandshakeProblem;

  constructor(problem: HandshakeProblem) {
    this.#problem = problem;
  }

  get size(): number {
    return this.#dueAt.size;
  }

  begin(socket: Socket<Data>, dueAt: number): void {
    this.#dueAt.set(socket, dueAt);
  }

  /** False: it was given up before. */
  done(socket: Socket<Data>): boolean {
    return this.#dueAt.delete(socket);
  }

  /** The runtime closes it by itself. */
  failed(socket: Socket<Data>, thrown: Error | null): void {
    if (this.#dueAt.delete(socket)) this.#problem(problemOf(thrown), socket.remoteAddress);
  }

  /** It was closed: by a reset no other word of it comes. */
  closed(socket: Socket<Data>): void {
    this.failed(socket, null);
  }

  tick(now: number): void {
    for (const [socket, dueAt] of this.#dueAt) {
      if (dueAt > now) continue;
      this.#dueAt.delete(socket);
      this.#problem("late", socket.remoteAddress);
      socket.terminate();
    }
  }

  /** Nothing was asked on any of them, so each can be made again elsewhere. */
  cut(): void {
    const all = [...this.#dueAt.keys()];
    this.#dueAt.clear();
    for (const socket of all) socket.terminate();
  }
}

/** BoringSSL's own word is the last of its text, as in `error:1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST`. */
function problemOf(thrown: Error | null): string {
  const word = /:([A-Z0-9_]+)$/.exec(thrown?.message ?? "")?.[1];
  return word?.toLowerCase() ?? "gone";
}
