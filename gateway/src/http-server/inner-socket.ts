import { randomBytes, timingSafeEqual } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";

const headerName = "x-sluice-peer";

/** Who asks, and how it came to our own server. */
export interface Peer {
  readonly address: string;
  /** By TLS. */
  readonly secure: boolean;
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

  constructor(platform: string = process.platform) {
    const name = `sluice-${randomBytes(12).toString("hex")}`;
    this.path = platform === "linux" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
  }

  /** The header's value for a caller. */
  tell({ address, secure }: Peer): string {
    return `${this.#secret} ${secure ? "https" : "http"} ${address}`;
  }

  /** The caller; null: it was not our own server who asks. The header is taken out. */
  admit(headers: Headers): Peer | null {
    const value = headers.get(headerName);
    if (value === null) return null;
    headers.delete(headerName);
    const [secret = "", scheme = "", address = ""] = value.split(" ");
    const [given, known] = [Buffer.from(secret), Buffer.from(this.#secret)];
    return given.length === known.length && timingSafeEqual(given, known)
      ? { address, secure: scheme === "https" }
      : null;
  }
}
