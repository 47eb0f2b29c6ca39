/** Upstream failures. Requests for the faulty model get them in turn. */
interface FaultySocket {
  write(bytes: string): unknown;
  /** Closes it after sending buffered data. */
  end(): unknown;
  /** Closes it immediately, like a crash. */
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

/** null: respond normally. */
export function nextFault(event: string): Fault | null {
  const at = Math.floor(Math.random() * faults.length);
  const fault = faults[at];
  return fault === undefined ? null : fault(event);
}

const eventHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/** Mostly successes, because the gateway stops using an account that always fails. */
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
    // A moment later, when part of the response has been forwarded.
    setTimeout(() => socket.terminate(), 50);
  },
];
