import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "bun";
import { bounds } from "#core/index.ts";
import { ServerAnswer } from "./answer.ts";
import { type MessageGuard, MessageMeter } from "./message-meter.ts";
import type { ServerConnection } from "./server-connection.ts";

const tokenHeader = "x-sluice-socket";
const switching = Buffer.from("HTTP/1.1 101 ");
const nothing = Buffer.alloc(0);

export type Guarded = Pick<SocketTunnel, "guard">;

/** An answer that turns its connection into a WebSocket of the runtime's server, which `SocketUpgrades` knows. */
export class UpgradeAnswer extends ServerAnswer {
  /** The address of the runtime's server. */
  readonly path: string;
  /** Returns the request to the runtime's server, with a token by which it finds the WebSocket. */
  readonly begin: (tunnel: Guarded) => string;
  /** Called once, when the connection has ended, even if it never became a WebSocket. */
  readonly onEnd: () => void;

  constructor(path: string, begin: UpgradeAnswer["begin"], onEnd: () => void) {
    super(101, {}, null);
    this.path = path;
    this.begin = begin;
    this.onEnd = onEnd;
  }
}

/**
 * WebSockets that wait for the runtime's server, which listens at `path`. On Linux that is a socket without a file. Other users of
 * the machine can see its name, so a connection without a token is refused.
 */
export class SocketUpgrades<Pending> {
  /** For `unix` of the runtime's server. */
  readonly path: string;
  readonly #pending = new Map<string, Pending>();

  constructor(platform: string = process.platform) {
    const name = `sluice-${randomBytes(12).toString("hex")}`;
    this.path = platform === "linux" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
  }

  /** `fields`: of the caller's handshake. */
  answer(
    fields: Iterable<readonly [name: string, value: string]>,
    pendingOf: (tunnel: Guarded) => Pending,
    onEnd: () => void,
  ) {
    const token = randomBytes(32).toString("hex");
    let request = `GET / HTTP/1.1\r\nhost: sluice\r\nconnection: upgrade\r\nupgrade: websocket\r\n${tokenHeader}: ${token}\r\n`;
    for (const [name, value] of fields) if (name.startsWith("sec-websocket-")) request += `${name}: ${value}\r\n`;
    const begin = (tunnel: Guarded): string => {
      this.#pending.set(token, pendingOf(tunnel));
      return `${request}\r\n`;
    };
    return new UpgradeAnswer(this.path, begin, () => {
      this.#pending.delete(token);
      onEnd();
    });
  }

  /** The WebSocket of a request to the runtime's server; null: the request is not ours. */
  take({ headers }: Request): Pending | null {
    const token = headers.get(tokenHeader) ?? "";
    const pending = this.#pending.get(token) ?? null;
    this.#pending.delete(token);
    return pending;
  }
}

/**
 * Forwards the bytes of a WebSocket between its caller and the runtime's server.
 *
 * connecting  the runtime's server has not accepted the handshake.
 * open        bytes are forwarded.
 * refusing    a message was refused: the caller's bytes are dropped.
 * over        either side has closed.
 */
export class SocketTunnel {
  readonly #connection: ServerConnection;
  readonly #upgrade: UpgradeAnswer;
  #phase: "connecting" | "open" | "refusing" | "over" = "connecting";
  #inner: Socket | null = null;
  #unsent: Buffer;
  /** The beginning of the runtime's answer. */
  #received: Buffer = nothing;
  #meter: MessageMeter | null = null;

  constructor(connection: ServerConnection, upgrade: UpgradeAnswer) {
    this.#connection = connection;
    this.#upgrade = upgrade;
    this.#unsent = Buffer.from(upgrade.begin(this), "latin1");
    Bun.connect({
      unix: upgrade.path,
      socket: {
        open: (socket) => {
          this.#inner = socket;
          if (this.#phase === "over") socket.terminate();
          else this.#push();
        },
        data: (_socket, bytes) => this.#receive(bytes),
        drain: () => this.#push(),
        end: () => this.#closed(),
        close: () => this.#closed(),
        error: () => this.#closed(),
        connectError: () => this.#closed(),
      },
    }).catch(() => this.#closed());
  }

  /** Bounds what the caller sends. */
  guard(guard: MessageGuard): void {
    this.#meter = new MessageMeter(guard);
  }

  /** Bytes from the caller. */
  send(bytes: Uint8Array): void {
    if (this.#phase !== "open") return;
    const { pace } = this.#connection.input;
    if (this.#meter?.push(bytes) === false) {
      this.#phase = "refusing";
      pace.stop();
      return;
    }
    if (this.#meter?.unfinished === true) pace.moved(bytes.length);
    else pace.stop();
    this.#unsent = this.#unsent.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#unsent, bytes]);
    this.#push();
    if (this.#unsent.length > bounds.pipelinedBytesMax) this.#connection.input.pause();
  }

  /** The caller has read: there is room for more. */
  resume(): void {
    this.#inner?.resume();
  }

  /** The caller sends a message too slowly. */
  refuseSlow(): void {
    this.#phase = "refusing";
    this.#meter?.guard.slow();
  }

  /** The caller's connection has ended. */
  end(): void {
    this.#phase = "over";
    this.#inner?.terminate();
    this.#upgrade.onEnd();
  }

  #push(): void {
    if (this.#inner === null || this.#phase === "over" || this.#unsent.length === 0) return;
    const taken = Math.max(0, this.#inner.write(this.#unsent));
    this.#unsent = taken === this.#unsent.length ? nothing : this.#unsent.subarray(taken);
    if (this.#unsent.length === 0) this.#connection.input.resume();
  }

  #receive(bytes: Buffer): void {
    if (this.#phase === "over") return;
    if (this.#phase !== "connecting") {
      this.#connection.raw(bytes);
      if (this.#connection.full) this.#inner?.pause();
      return;
    }
    this.#received = Buffer.concat([this.#received, bytes]);
    if (this.#received.length < switching.length) return;
    if (!this.#received.subarray(0, switching.length).equals(switching)) {
      this.#connection.cut();
      return;
    }
    this.#phase = "open";
    this.#connection.raw(this.#received);
    this.#received = nothing;
    this.#connection.becomeRaw();
  }

  /** The runtime's server has closed. */
  #closed(): void {
    if (this.#phase === "over") return;
    if (this.#phase === "connecting") this.#connection.cut();
    else this.#connection.close();
  }
}
