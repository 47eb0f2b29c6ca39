import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** One connection on which a test writes bytes as they are. */
export interface RawSocket {
  write(bytes: string): void;
  /** All that came so far. */
  text(): string;
  /** Resolves once what came contains `part`. */
  until(part: string): Promise<string>;
  /** The same of what came behind its first `from` characters. */
  untilBehind(from: number, part: string): Promise<string>;
  /** Resolves when the other side has closed. */
  readonly closed: Promise<string>;
  end(): void;
  /** Sends no more, and goes on reading. */
  finish(): void;
  /** Nothing is read any more, or it is again. */
  pause(): void;
  resume(): void;
  /** At once, with a reset. */
  reset(): void;
}

/** `secure`: by TLS, whatever the certificate. */
export function openSocket(port: number, secure = false): RawSocket {
  const place = { port, host: "127.0.0.1", allowHalfOpen: true };
  const socket: Socket = secure ? connectSecurely({ ...place, rejectUnauthorized: false }) : connect(place);
  const closed = Promise.withResolvers<string>();
  const waiting = new Set<() => void>();
  let text = "";
  const look = (): void => {
    for (const one of waiting) one();
  };
  socket.on("data", (data) => {
    text += data.toString("latin1");
    look();
  });
  socket.on("error", () => {});
  // A runtime that half-closes by itself would hide who closed.
  socket.on("end", () => void socket.end());
  socket.on("close", () => {
    closed.resolve(text);
    look();
  });
  const untilBehind = (from: number, part: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const one = (): void => {
        if (text.includes(part, from)) resolve(text);
        else if (socket.closed) reject(new Error(`closed before ${JSON.stringify(part)} came: ${text.slice(-2_000)}`));
        else return;
        waiting.delete(one);
      };
      waiting.add(one);
      one();
    });
  return {
    write: (bytes) => void socket.write(bytes, "latin1"),
    text: () => text,
    until: (part) => untilBehind(0, part),
    untilBehind,
    closed: closed.promise,
    end: () => void socket.destroy(),
    finish: () => void socket.end(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** One request on a connection of its own; what came until the other side closed. */
export async function rawExchange(port: number, head: string, body = ""): Promise<{ status: number; text: string }> {
  const socket = openSocket(port);
  socket.write(`${head.trimEnd()}\r\nconnection: close\r\n\r\n${body}`);
  const text = await socket.closed;
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}
