import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** One connection on which a test writes raw bytes. */
export interface RawSocket {
  write(bytes: string): void;
  /** Everything received so far. */
  text(): string;
  /** Resolves when the received text contains `part`. */
  until(part: string): Promise<string>;
  /** Like `until`, but ignores the first `from` characters. */
  untilAfter(from: number, part: string): Promise<string>;
  /** Resolves when the other side has closed. */
  readonly closed: Promise<string>;
  end(): void;
  /** Ends the sending side and continues to read. */
  finish(): void;
  /** Stops or resumes reading. */
  pause(): void;
  resume(): void;
  /** Resets the connection immediately. */
  reset(): void;
}

/** `secure`: with TLS and without a check of the certificate. */
export function openSocket(port: number, secure = false): RawSocket {
  const address = { port, host: "127.0.0.1", allowHalfOpen: true };
  const socket: Socket = secure ? connectSecurely({ ...address, rejectUnauthorized: false }) : connect(address);
  const closed = Promise.withResolvers<string>();
  const checks = new Set<() => void>();
  let text = "";
  const notify = (): void => {
    for (const check of checks) check();
  };
  socket.on("data", (data) => {
    text += data.toString("latin1");
    notify();
  });
  socket.on("error", () => {});
  // A runtime that half-closes on its own would hide which side closed.
  socket.on("end", () => void socket.end());
  socket.on("close", () => {
    closed.resolve(text);
    notify();
  });
  const untilAfter = (from: number, part: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (text.includes(part, from)) resolve(text);
        else if (socket.closed) reject(new Error(`closed before ${JSON.stringify(part)} came: ${text.slice(-2_000)}`));
        else return;
        checks.delete(check);
      };
      checks.add(check);
      check();
    });
  return {
    write: (bytes) => void socket.write(bytes, "latin1"),
    text: () => text,
    until: (part) => untilAfter(0, part),
    untilAfter,
    closed: closed.promise,
    end: () => void socket.destroy(),
    finish: () => void socket.end(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** Sends one request on a new connection and returns everything received before the other side closed. */
export async function rawExchange(port: number, head: string, body = ""): Promise<{ status: number; text: string }> {
  const socket = openSocket(port);
  socket.write(`${head.trimEnd()}\r\nconnection: close\r\n\r\n${body}`);
  const text = await socket.closed;
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}
