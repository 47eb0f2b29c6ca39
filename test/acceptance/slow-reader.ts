import { connect } from "node:net";
import { type ChatOptions, chatBody } from "./chat-call.ts";
import { keys } from "./test-config.ts";

/** A caller that reads the first bytes and then nothing until `readAll`. */
export interface SlowReader {
  /** Resolves once the first bytes have arrived and reading has stopped. */
  readonly begun: Promise<void>;
  /** Reads to the end. Resolves to all bytes as Latin-1 text. */
  readAll(): Promise<string>;
}

export function openSlowReader(port: number, options: ChatOptions): SlowReader {
  const body = JSON.stringify(chatBody(options));
  const socket = connect(port, "127.0.0.1");
  const pieces: Buffer[] = [];
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  let stopped = false;
  socket.on("connect", () => {
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: slow\r\nconnection: close\r\ncontent-type: application/json\r\n` +
        `authorization: Bearer ${keys.main}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
  socket.on("data", (bytes) => {
    pieces.push(Buffer.from(bytes));
    if (stopped) return;
    stopped = true;
    socket.pause();
    begun.resolve();
  });
  socket.on("end", () => ended.resolve(Buffer.concat(pieces).toString("latin1")));
  socket.on("error", (reason) => {
    begun.reject(reason);
    ended.reject(reason);
  });
  return {
    begun: begun.promise,
    readAll() {
      socket.resume();
      return ended.promise;
    },
  };
}
