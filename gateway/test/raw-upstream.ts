import { createServer, type Socket } from "node:net";

/** An upstream scripted byte by byte, for answers that no HTTP server would send. */
export interface RawUpstream {
  readonly url: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Requests received so far, each with its head and body as text. */
  readonly requests: readonly string[];
  /** Resolves when the socket of the n-th request (from 0) is closed. */
  closed(index: number): Promise<void>;
  stop(): void;
}

export type Answer = (socket: Socket, requestIndex: number) => void;

/** Starts on a free loopback port. Calls `answer` for each complete request (bodies with a content-length only). */
export async function startRawUpstream(answer: Answer): Promise<RawUpstream> {
  const requests: string[] = [];
  const closings: Promise<void>[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    const closing = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    let held = "";
    socket.on("data", (bytes) => {
      held += bytes.toString("latin1");
      for (let end = requestEnd(held); end > 0; end = requestEnd(held)) {
        requests.push(held.slice(0, end));
        closings.push(closing);
        held = held.slice(end);
        answer(socket, requests.length - 1);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    get connections() {
      return connections;
    },
    requests,
    closed: (index) => closings[index] ?? Promise.reject(new Error("no such request")),
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The end of the first complete request in `text`, or 0. */
function requestEnd(text: string): number {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return 0;
  const declared = /content-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? "0";
  const end = headEnd + 4 + Number(declared);
  return text.length >= end ? end : 0;
}

export const rawAnswer = (body: string, head = ""): string =>
  `HTTP/1.1 200 OK\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The head of a chunked answer with its first chunks. */
export const rawChunks = (...chunks: string[]): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks.map(rawChunk).join("")}`;

export const rawChunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
