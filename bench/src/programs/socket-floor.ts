import type { Socket } from "bun";
import { readSpec } from "./spec.ts";

/**
 * The minimum cost of a proxy on this runtime: sockets on both sides, with messages forwarded unchanged. It finds their ends by content
 * length and checks nothing.
 */
interface SocketFloorSpec {
  readonly port: number;
  readonly upstreamPort: number;
}

/** One side of an exchange: the connection to the caller or to the upstream. */
interface Side {
  other: Socket<Side> | null;
  /** The beginning of an incomplete message. */
  held: Buffer | null;
}

const { port, upstreamPort } = readSpec<SocketFloorSpec>();
const idle: Socket<Side>[] = [];
const headEnd = Buffer.from("\r\n\r\n");
/** The end of `content-length`, which is the same in every capitalization that clients use. */
const lengthName = Buffer.from("ength: ");

/** The index after the message. -1: its head is incomplete. */
function messageEnd(bytes: Buffer): number {
  const head = bytes.indexOf(headEnd);
  const at = head < 0 ? -1 : bytes.indexOf(lengthName);
  if (at < 0) return -1;
  return (
    head +
    headEnd.length +
    Number.parseInt(bytes.toString("latin1", at + lengthName.length, at + lengthName.length + 12), 10)
  );
}

/** The message, once it is complete. */
function whole(side: Side, bytes: Buffer): Buffer | null {
  const all = side.held === null ? bytes : Buffer.concat([side.held, bytes]);
  const end = messageEnd(all);
  side.held = end < 0 || all.length < end ? Buffer.from(all) : null;
  return side.held === null ? all : null;
}

const upstream = {
  data(socket: Socket<Side>, bytes: Buffer): void {
    const answer = whole(socket.data, bytes);
    if (answer === null) return;
    socket.data.other?.write(answer);
    socket.data.other = null;
    idle.push(socket);
  },
};

function send(request: Buffer, caller: Socket<Side>, to: Socket<Side>): void {
  to.data.other = caller;
  to.write(request);
}

Bun.listen<Side>({
  hostname: "127.0.0.1",
  port,
  socket: {
    open(socket) {
      socket.data = { other: null, held: null };
    },
    data(socket, bytes) {
      const request = whole(socket.data, bytes);
      if (request === null) return;
      const connection = idle.pop();
      if (connection !== undefined) send(request, socket, connection);
      else {
        const copy = Buffer.from(request);
        const side: Side = { other: null, held: null };
        void Bun.connect<Side>({ hostname: "127.0.0.1", port: upstreamPort, data: side, socket: upstream }).then(
          (opened) => send(copy, socket, opened),
        );
      }
    },
  },
});
