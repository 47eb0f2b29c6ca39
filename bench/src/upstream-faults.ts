/** What goes wrong at an upstream, by turns: one of these to every request of the faulty model. */
interface FaultySocket {
  write(bytes: string): unknown;
  /** Closes it when what was written has left. */
  end(): unknown;
  /** Closes it at once, as one that crashes does. */
  terminate(): unknown;
}

export type Fault = (socket: FaultySocket) => void;

const refusal = '{"error":{"message":"of the bench","type":"server_error","code":null}}';

function refuse(status: string): Fault {
  return (socket) =>
    socket.write(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`,
    );
}

function cut(bytes: string): Fault {
  return (socket) => {
    socket.write(bytes);
    socket.end();
  };
}

/** Null: it is answered as any other is. */
export function nextFault(event: string): Fault | null {
  const at = Math.floor(Math.random() * faults.length);
  const fault = faults[at];
  return fault === undefined ? null : fault(event);
}

const eventHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** More good answers than bad ones: an account that only fails is not asked for long. */
const faults: readonly ((event: string) => Fault | null)[] = [
  ...Array.from({ length: 12 }, () => () => null),
  () => refuse("500 Internal Server Error"),
  () => refuse("429 Too Many Requests"),
  () => refuse("503 Service Unavailable"),
  () => (socket) => socket.terminate(),
  () => cut("HTTP/1.1 200 OK\r\ncontent-type: applic"),
  () => cut("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{"),
  () => cut("no HTTP at all\r\n\r\n"),
  (event) => cut(`${eventHead}${event.length.toString(16)}\r\n${event}\r\n`),
  (event) => (socket) => {
    socket.write(`${eventHead}${event.length.toString(16)}\r\n${event}\r\n`);
    // A moment later, when some of it has been passed on.
    setTimeout(() => socket.terminate(), 50);
  },
];
