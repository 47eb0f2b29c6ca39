import type { Socket, TCPSocketListener } from "bun";
import { type ReadRequest, RequestReader } from "./request-reader.ts";
import type { Simulator } from "./simulator.ts";
import { type Connection, SocketOutlet } from "./socket-outlet.ts";

export interface HttpListener {
  readonly port: number;
  readonly hostname: string;
  stop(): void;
}

/**
 * Serves the simulator on a plain TCP socket. One listener serves both correct and faulty behavior, so a script needs no
 * special address, and a disconnect is noticed as soon as the kernel reports it.
 */
export function openHttpListener(
  simulator: Simulator,
  options: { readonly port: number; readonly hostname: string },
): HttpListener {
  const open = new Set<Socket<SocketConnection>>();
  const listener: TCPSocketListener<SocketConnection> = Bun.listen<SocketConnection>({
    hostname: options.hostname,
    port: options.port,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        socket.data = new SocketConnection(socket, simulator);
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

class SocketConnection implements Connection {
  outlet: SocketOutlet | null = null;
  readonly #socket: Socket<SocketConnection>;
  readonly #simulator: Simulator;
  readonly #reader = new RequestReader();
  /** Bytes that arrived while an answer was being sent. */
  #pipelined: Buffer[] = [];

  constructor(socket: Socket<SocketConnection>, simulator: Simulator) {
    this.#socket = socket;
    this.#simulator = simulator;
  }

  feed(bytes: Buffer): void {
    if (this.outlet !== null) {
      this.#pipelined.push(bytes);
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
    const pipelined = this.#pipelined;
    this.#pipelined = [];
    // A microtask keeps many pipelined requests from overflowing the stack.
    queueMicrotask(() => this.feed(pipelined.length === 0 ? empty : Buffer.concat(pipelined)));
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
