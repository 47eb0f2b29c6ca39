import { appendFileSync } from "node:fs";
import type { Socket } from "bun";
import { faultyUpstreamModel, paths } from "../call-request.ts";
import { eventStamp } from "../event-stamp.ts";
import { StreamWheel } from "../stream-wheel.ts";
import { nextFault } from "../upstream-faults.ts";
import { answer, readSpec } from "./spec.ts";
import { chatReply, chatTexts, imagesReply, messagesTexts, type StreamTexts } from "./upstream-texts.ts";

/**
 * The upstream of the bench: a raw HTTP/1.1 server that needs a few microseconds per request, so that the contender dominates the
 * measurement. Complete responses are fixed; streams have the pace that their first message requests, and every event has a timestamp.
 * It supports chat completions, messages and image edit forms. `GET /clock` returns its monotonic clock, so that other processes can
 * compare timestamps; `GET /served` returns the number of calls, to check ledgers. The faulty model fails in many ways.
 */
interface Caller {
  /** Bytes of an incomplete request head. */
  held: Buffer | null;
  /** Remaining bytes of a body that is skipped, and the bytes before them. */
  skip: number;
  head: string;
  begun: string;
  unsent: Buffer | null;
  stream: StreamState | null;
}

interface StreamState {
  readonly texts: StreamTexts;
  eventsLeft: number;
  readonly endsAtMs: number;
  readonly usage: boolean;
}

type CallerSocket = Socket<Caller>;

/** Enough of a body to find its stream fields. */
const begunBytes = 512;
const endBytes = 128;
const attemptsHeldMax = 64 * 1024;
const chatAnswer = httpReply("application/json", chatReply());
const imagesAnswer = httpReply("application/json", imagesReply());

interface UpstreamSpec {
  readonly port: number;
  readonly attemptsFile: string | null;
}

let served = 0;

const wheel = new StreamWheel<CallerSocket>((socket) => emit(socket));

/** File for attempt ids, one per line. null: none. */
const { port = 0, attemptsFile = null } = readSpec<Partial<UpstreamSpec> | null>() ?? {};
let attempts = "";

const server = Bun.listen<Caller>({
  hostname: "127.0.0.1",
  port,
  socket: {
    open: (socket) => {
      socket.data = { held: null, skip: 0, head: "", begun: "", unsent: null, stream: null };
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
    if (caller.skip <= 0) respond(socket, caller.head, caller.begun);
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
  const begun = begunOf(bytes, end + 4);
  if (here >= length) {
    respond(socket, head, begun);
    return;
  }
  caller.head = head;
  caller.begun = begun;
  caller.skip = length - here;
}

/** The beginning of a body, and its end if it has arrived: the stream fields may be in either. */
function begunOf(bytes: Buffer, from: number): string {
  const to = from + begunBytes;
  return bytes.toString("latin1", from, to) + bytes.toString("latin1", Math.max(to, bytes.length - endBytes));
}

function respond(socket: CallerSocket, head: string, body: string): void {
  if (head.startsWith("GET /clock")) send(socket, httpReply("text/plain", String(performance.now())));
  else if (head.startsWith("GET /served")) {
    keepAttempts();
    send(socket, httpReply("text/plain", String(served)));
  } else serve(socket, head, body);
}

function serve(socket: CallerSocket, head: string, body: string): void {
  served++;
  note(head);
  const fault = body.includes(faultyUpstreamModel) ? nextFault(chatTexts.begin(stampNow())) : null;
  if (fault !== null) fault(socket);
  else if (head.startsWith(`POST ${paths.edit}`)) send(socket, imagesAnswer);
  else if (body.includes("gap_ms=")) beginStream(socket, head, body);
  else if (body.includes("delay_ms=")) setTimeout(() => send(socket, chatAnswer), numberIn(body, "delay_ms"));
  else send(socket, chatAnswer);
}

function note(head: string): void {
  if (attemptsFile === null) return;
  attempts += `${/\r\nx-attempt-id: *(\S+)/i.exec(head)?.[1] ?? "unnamed"}\n`;
  if (attempts.length > attemptsHeldMax) keepAttempts();
}

function keepAttempts(): void {
  if (attemptsFile !== null) appendFileSync(attemptsFile, attempts);
  attempts = "";
}

function beginStream(socket: CallerSocket, head: string, body: string): void {
  const texts = head.startsWith(`POST ${paths.messages}`) ? messagesTexts : chatTexts;
  socket.data.stream = {
    texts,
    eventsLeft: numberIn(body, "events"),
    endsAtMs: numberIn(body, "ends_at_ms") || Number.POSITIVE_INFINITY,
    usage: body.includes(`"include_usage":true`),
  };
  send(
    socket,
    Buffer.from(
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n" +
        chunk(texts.begin(stampNow())),
    ),
  );
  wheel.enter(socket, numberIn(body, "gap_ms"));
}

function numberIn(body: string, name: string): number {
  return Number(new RegExp(`\\b${name}=(\\d+)`).exec(body)?.[1] ?? 0);
}

/** Sends the next event of a stream. false: it was the last one. */
function emit(socket: CallerSocket): boolean {
  const stream = socket.data.stream;
  if (stream === null) return false;
  if (--stream.eventsLeft > 0 && performance.now() < stream.endsAtMs) {
    send(socket, chunk(stream.texts.piece(stampNow())));
    return true;
  }
  socket.data.stream = null;
  send(socket, `${chunk(stream.texts.end(stream.usage))}0\r\n\r\n`);
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

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function httpReply(type: string, body: string): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}
