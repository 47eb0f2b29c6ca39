import type { Socket } from "bun";
import { benchModel } from "../chat-request.ts";
import { eventStamp } from "../event-stamp.ts";
import { StreamWheel } from "../stream-wheel.ts";
import { answer, readSpec } from "./spec.ts";

/**
 * The upstream of the bench: a raw HTTP/1.1 server that costs a few microseconds a request, so that what is measured
 * is the thing in front of it. Chat answers are fixed; streams are paced and every event says when it was sent.
 * `GET /clock` tells its monotonic clock, so that a receiver in another process can read the stamps.
 */
interface Caller {
  /** Bytes of a request's beginning that are not yet whole. */
  held: Buffer | null;
  /** What is still to come of a body that nobody needs to look at, and the beginning of that body. */
  skip: number;
  begun: string;
  unsent: Buffer | null;
  stream: StreamState | null;
}

interface StreamState {
  eventsLeft: number;
  readonly endsAtMs: number;
  readonly usage: boolean;
}

type CallerSocket = Socket<Caller>;

/** Enough of a body to see whether it asks for a stream, and which. */
const begunBytes = 512;
const jsonReply = httpReply("application/json", chatReply());

const wheel = new StreamWheel<CallerSocket>((socket) => emit(socket));

const server = Bun.listen<Caller>({
  hostname: "127.0.0.1",
  port: readSpec<{ port: number } | null>()?.port ?? 0,
  socket: {
    open: (socket) => {
      socket.data = { held: null, skip: 0, begun: "", unsent: null, stream: null };
      socket.setNoDelay(true);
    },
    data: receive,
    drain: (socket) => flush(socket),
    close: (socket) => {
      socket.data.stream = null;
    },
    error: () => undefined,
  },
});
answer({ port: server.port });

function receive(socket: CallerSocket, piece: Buffer): void {
  const caller = socket.data;
  if (caller.skip > 0) {
    caller.skip -= piece.length;
    if (caller.skip <= 0) respond(socket, "POST", caller.begun);
    return;
  }
  const bytes = caller.held === null ? piece : Buffer.concat([caller.held, piece]);
  caller.held = null;
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) {
    caller.held = Buffer.from(bytes);
    return;
  }
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const here = bytes.length - end - 4;
  if (here < Math.min(length, begunBytes)) {
    caller.held = Buffer.from(bytes);
    return;
  }
  const begun = bytes.toString("latin1", end + 4, end + 4 + begunBytes);
  if (here >= length) {
    respond(socket, head, begun);
    return;
  }
  caller.begun = begun;
  caller.skip = length - here;
}

function respond(socket: CallerSocket, head: string, body: string): void {
  if (head.startsWith("GET /clock")) send(socket, httpReply("text/plain", String(performance.now())));
  else if (body.includes(`"stream":true`)) beginStream(socket, body);
  else send(socket, jsonReply);
}

function beginStream(socket: CallerSocket, body: string): void {
  socket.data.stream = {
    eventsLeft: numberIn(body, "events"),
    endsAtMs: numberIn(body, "ends_at_ms") || Number.POSITIVE_INFINITY,
    usage: body.includes(`"include_usage":true`),
  };
  send(
    socket,
    Buffer.from(
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n" +
        chunk(event(`{"role":"assistant","content":"${stampNow()}"}`)),
    ),
  );
  wheel.enter(socket, numberIn(body, "gap_ms"));
}

function numberIn(body: string, name: string): number {
  return Number(new RegExp(`"${name}":(\\d+)`).exec(body)?.[1] ?? 0);
}

/** Sends the next event of a stream; false when it was the last. */
function emit(socket: CallerSocket): boolean {
  const stream = socket.data.stream;
  if (stream === null) return false;
  if (--stream.eventsLeft > 0 && performance.now() < stream.endsAtMs) {
    send(socket, chunk(event(`{"content":" word${stampNow()}"}`)));
    return true;
  }
  socket.data.stream = null;
  const usage = stream.usage ? chunk(`data: ${usageEvent}\n\n`) : "";
  send(socket, `${chunk(event("{}", `"stop"`))}${usage}${chunk("data: [DONE]\n\n")}0\r\n\r\n`);
  return false;
}

function send(socket: CallerSocket, bytes: Buffer | string): void {
  const caller = socket.data;
  if (caller.unsent !== null) {
    caller.unsent = Buffer.concat([caller.unsent, Buffer.from(bytes)]);
    return;
  }
  const sent = socket.write(bytes);
  if (sent >= 0 && sent < bytes.length) caller.unsent = Buffer.from(bytes).subarray(sent);
}

function flush(socket: CallerSocket): void {
  const waiting = socket.data.unsent;
  if (waiting === null) return;
  socket.data.unsent = null;
  send(socket, waiting);
}

function stampNow(): string {
  return eventStamp(performance.now() * 1000);
}

function event(delta: string, finish = "null"): string {
  return (
    `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"${benchModel}",` +
    `"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]}\n\n`
  );
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function httpReply(type: string, body: string): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

/** A whole answer of 1 KB. */
function chatReply(): string {
  const make = (text: string) =>
    `{"id":"chatcmpl-bench","object":"chat.completion","created":1760000000,"model":"${benchModel}","choices":[{"index":0,` +
    `"message":{"role":"assistant","content":"${text}","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
    `"usage":{"prompt_tokens":180,"completion_tokens":120,"total_tokens":300,"prompt_tokens_details":{"cached_tokens":0}}}`;
  return make("word ".repeat(300).slice(0, 1024 - make("").length));
}

const usageEvent =
  `{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"${benchModel}","choices":[],` +
  `"usage":{"prompt_tokens":180,"completion_tokens":120,"total_tokens":300}}`;
