import type { Socket, TCPSocketListener } from "bun";
import { type ReadRequest, RequestReader } from "./request-reader.ts";
import type { Simulator } from "./simulator.ts";
import { type Line, SocketOutlet } from "./socket-outlet.ts";

export interface HttpListener {
  readonly port: number;
  readonly hostname: string;
  stop(): void;
}

/**
 * The simulator on a plain TCP socket. One front end serves both good and bad behaviour, so a script needs no special
 * address, and the moment a caller leaves is known as soon as the kernel knows it.
 */
export function openHttpListener(
  simulator: Simulator,
  options: { readonly port: number; readonly hostname: string },
): HttpListener {
  const open = new Set<Socket<Connection>>();
  const listener: TCPSocketListener<Connection> = Bun.listen<Connection>({
    hostname: options.hostname,
    port: options.port,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        socket.data = new Connection(socket, simulator);
        open.add(socket);
      },
      data: (socket, bytes) => socket.data.feed(bytes),
      drain: (socket) => socket.data.outlet?.drain(),
      close(socket) {
        open.delete(socket);
        socket.data.outlet?.leave();
      },
      error: (socket) => socket.data.outlet?.leave(),
    },
  });
  return {
    port: listener.port,
    hostname: options.hostname,
    stop() {
      listener.stop();
      for (const socket of open) socket.terminate();
    },
  };
}

class Connection implements Line {
  outlet: SocketOutlet | null = null;
  readonly #socket: Socket<Connection>;
  readonly #simulator: Simulator;
  readonly #reader = new RequestReader();
  /** Bytes that came while an answer was on its way. */
  #early: Buffer[] = [];

  constructor(socket: Socket<Connection>, simulator: Simulator) {
    this.#socket = socket;
    this.#simulator = simulator;
  }

  feed(bytes: Buffer): void {
    if (this.outlet !== null) {
      this.#early.push(bytes);
      return;
    }
    const step = this.#reader.feed(bytes);
    if (step === "more") return;
    if (step === "continue") this.write(Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"));
    else if (step === "bad") this.#refuse();
    else this.#answer(step);
  }

  write(bytes: Uint8Array): number {
    return this.#socket.write(bytes);
  }

  finish(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.terminate();
  }

  next(): void {
    this.outlet = null;
    const early = this.#early;
    this.#early = [];
    // A pipelined request waits for its turn in a fresh stack.
    queueMicrotask(() => this.feed(early.length === 0 ? empty : Buffer.concat(early)));
  }

  #answer(request: ReadRequest): void {
    const outlet = new SocketOutlet(this, !request.close);
    this.outlet = outlet;
    this.#simulator.serve(request, outlet).catch((reason: unknown) => {
      console.error("simulator:", reason);
      outlet.reset();
    });
  }

  #refuse(): void {
    this.write(Buffer.from("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
    this.finish();
  }
}

const empty = Buffer.alloc(0);
