import type { Socket } from "bun";

/** How a connection ended for the caller: by FIN, by RST, or because the caller left. */
type Ending = "fin" | "reset" | "left";

export interface RawAnswer {
  /** Every byte received, as Latin-1 text. */
  readonly text: string;
  readonly head: string;
  /** Everything after the head, with its framing. */
  readonly body: string;
  readonly ending: Ending;
  /** Milliseconds from the request to the first byte, to the first byte after the head, and to the end. */
  readonly firstByteMs: number;
  readonly firstBodyMs: number;
  readonly endMs: number;
}

export interface RawOptions {
  readonly body?: unknown;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Disconnects once this has been received. */
  readonly leaveAfter?: string;
  /** Called after every read with everything received so far, as Latin-1 text. */
  readonly onText?: (text: string) => void;
  /** Disconnects when this is aborted. */
  readonly leave?: AbortSignal;
  /** Sent unchanged instead of a request built from the other options. */
  readonly bytes?: Uint8Array;
}

/** Makes one HTTP call over a plain socket, so that no client library hides a fault. */
export function rawCall(port: number, options: RawOptions): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const started = performance.now();
  const pieces: Buffer[] = [];
  let firstByteMs = -1;
  let firstBodyMs = -1;
  let ended = false;
  let unsent: Uint8Array = new Uint8Array(0);

  /** The kernel may accept only part of a large request. */
  function send(socket: Socket, bytes: Uint8Array): void {
    unsent = bytes.subarray(Math.max(0, socket.write(bytes)));
  }

  function finish(ending: Ending): void {
    if (ended) return;
    ended = true;
    const text = Buffer.concat(pieces).toString("latin1");
    const split = text.indexOf("\r\n\r\n");
    const head = split < 0 ? text : text.slice(0, split);
    const body = split < 0 ? "" : text.slice(split + 4);
    resolve({ text, head, body, ending, firstByteMs, firstBodyMs, endMs: performance.now() - started });
  }

  function receive(socket: Socket, bytes: Buffer): void {
    if (firstByteMs < 0) firstByteMs = performance.now() - started;
    pieces.push(Buffer.from(bytes));
    if (firstBodyMs >= 0 && options.leaveAfter === undefined && options.onText === undefined) return;
    const text = Buffer.concat(pieces).toString("latin1");
    options.onText?.(text);
    const split = text.indexOf("\r\n\r\n");
    if (firstBodyMs < 0 && split >= 0 && text.length > split + 4) firstBodyMs = performance.now() - started;
    if (options.leaveAfter !== undefined && text.includes(options.leaveAfter)) {
      finish("left");
      socket.terminate();
    }
  }

  Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open(socket) {
        options.leave?.addEventListener("abort", () => {
          finish("left");
          socket.terminate();
        });
        send(socket, options.bytes ?? requestBytes(options));
      },
      drain: (socket) => send(socket, unsent),
      data: receive,
      end: () => finish("fin"),
      close: (_socket, error) => finish(error === undefined || error === null ? "fin" : "reset"),
      error: () => finish("reset"),
    },
  }).catch(reject);
  return promise;
}

function requestBytes(options: RawOptions): Buffer {
  const body = options.body === undefined ? "" : JSON.stringify(options.body);
  const rows = Object.entries({ "content-type": "application/json", ...options.headers });
  const head = rows.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const method = options.method ?? "POST";
  const path = options.path ?? "/v1/chat/completions";
  const size = Buffer.byteLength(body);
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: sim\r\nconnection: close\r\n${head}content-length: ${size}\r\n\r\n${body}`,
  );
}

/** Decodes a chunked body. Throws if the framing is invalid or incomplete. */
export function dechunk(body: string): string {
  let rest = body;
  let text = "";
  for (;;) {
    const end = rest.indexOf("\r\n");
    const line = end < 0 ? "" : rest.slice(0, end);
    if (!/^[0-9a-f]+$/.test(line)) throw new Error(`invalid chunk size at ${JSON.stringify(rest.slice(0, 40))}`);
    const size = Number.parseInt(line, 16);
    const piece = rest.slice(end + 2, end + 2 + size);
    if (piece.length < size) throw new Error("the chunk is incomplete");
    if (rest.slice(end + 2 + size, end + 4 + size) !== "\r\n") throw new Error("the chunk has no line end");
    if (size === 0) return text;
    text += piece;
    rest = rest.slice(end + 4 + size);
  }
}

/** The data of every complete event. */
export function eventsOf(text: string): string[] {
  return text
    .split(/\r?\n\r?\n/)
    .slice(0, -1)
    .filter((block) => block.startsWith("data: "))
    .map((block) => block.slice(6));
}
