import { randomBytes, timingSafeEqual } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { MessageGuard } from "./message-meter.ts";

const headerName = "x-sluice-peer";

/** Who asks, and how it came to our own server. */
export interface Peer {
  readonly address: string;
  readonly secure: boolean;
  /** null: the request would not become a WebSocket. */
  readonly tunnel: Guarded | null;
}

/** A connection that becomes a WebSocket. */
export interface Guarded {
  guard(guard: MessageGuard): void;
}

/**
 * Where the inner server listens, and how it knows who is asking. On Linux the socket has a name and no file; its name can
 * be seen by others on the machine, so whoever comes without the secret is refused.
 */
export class InnerSocket {
  static readonly headerName = headerName;
  /** For `unix` of the runtime's sockets. */
  readonly path: string;
  readonly #secret = randomBytes(32).toString("hex");
  readonly #tunnels = new Map<string, Guarded>();
  #opened = 0;

  constructor(platform: string = process.platform) {
    const name = `sluice-${randomBytes(12).toString("hex")}`;
    this.path = platform === "linux" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
  }

  /** The request of this connection is over. */
  forget(tunnel: Guarded): void {
    for (const [id, other] of this.#tunnels) if (other === tunnel) this.#tunnels.delete(id);
  }

  /** The header's value for a caller. `tunnel`: where its messages pass, if it becomes a WebSocket. */
  tell({ address, secure }: Pick<Peer, "address" | "secure">, tunnel: Guarded | null = null): string {
    const id = String(++this.#opened);
    if (tunnel !== null) this.#tunnels.set(id, tunnel);
    return `${this.#secret} ${secure ? "https" : "http"} ${id} ${address}`;
  }

  /** The caller; null: it was not our own server who asks. The header is taken out. */
  admit(headers: Headers): Peer | null {
    const value = headers.get(headerName);
    if (value === null) return null;
    headers.delete(headerName);
    const [secret = "", scheme = "", id = "", address = ""] = value.split(" ");
    const [given, known] = [Buffer.from(secret), Buffer.from(this.#secret)];
    if (given.length !== known.length || !timingSafeEqual(given, known)) return null;
    const tunnel = this.#tunnels.get(id) ?? null;
    this.#tunnels.delete(id);
    return { address, secure: scheme === "https", tunnel };
  }
}
