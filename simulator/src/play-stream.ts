import type { Answer } from "./answer.ts";
import { bounds } from "./bounds.ts";
import type { DialectEvent, Framing } from "./framing.ts";
import type { Outlet } from "./outlet.ts";
import type { Pacer } from "./pacer.ts";
import type { Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

export interface StreamPlayback {
  readonly events: Iterable<DialectEvent>;
  readonly answer: Answer;
  readonly script: Script;
  readonly outlet: Outlet;
  readonly pacer: Pacer;
  readonly record: TruthRecord;
  readonly framing: Framing;
  /** Sent during long waits; null for a comment. */
  readonly ping: DialectEvent | null;
  readonly error: () => DialectEvent;
}

/** Writes the events to the outlet, with the script's pauses and faults. The status line has already been sent. */
export async function playStream(playback: StreamPlayback): Promise<void> {
  const { script, outlet, record } = playback;
  const writer = new EventWriter(playback);
  let index = 0;
  for (const event of playback.events) {
    if (isTerminal(event) && script.done === false) continue;
    const wait = (index === 0 ? script.first_event_ms : script.event_ms) ?? 0;
    if (wait > 0) await writer.wait(wait);
    if (await applyFault(playback, writer, event, index)) return;
    const slow = writer.add(event, index);
    if (slow !== null) await slow;
    if (outlet.closed) return;
    index += 1;
  }
  const slow = writer.flush();
  if (slow !== null) await slow;
  if (!outlet.closed) await outlet.end();
  record.terminal_sent &&= record.aborted_at === null;
}

/** Returns true if a fault ended the stream. */
async function applyFault(
  playback: StreamPlayback,
  writer: EventWriter,
  event: DialectEvent,
  index: number,
): Promise<boolean> {
  const { script, outlet } = playback;
  const stall = script.stall_after_events === index;
  const ending = endings.find((field) => script[field] === index);
  if (!stall && ending === undefined) return false;
  if (script.half_event === true) writer.addHalf(event);
  await writer.flush();
  if (stall) await writer.wait(script.stall_ms ?? bounds.waitMsMax);
  if (outlet.closed) return true;
  if (ending === undefined) return false;
  if (ending === "cut_after_events") outlet.cut();
  if (ending === "reset_after_events") outlet.reset();
  if (ending === "break_chunking_after_events") breakChunking(outlet);
  if (ending === "error_event_after") await writer.addError(playback.error());
  if (!outlet.closed) await outlet.end();
  return true;
}

const endings = [
  "cut_after_events",
  "reset_after_events",
  "end_after_events",
  "break_chunking_after_events",
  "error_event_after",
] as const;

function breakChunking(outlet: Outlet): void {
  outlet.raw(Buffer.from("this is not a chunk size\r\n"));
  outlet.cut();
}

function isTerminal(event: DialectEvent): boolean {
  return event.role === "terminal" || event.role === "last";
}

/** Frames events, batches those without a pause between them, and records what was written to the connection. */
class EventWriter {
  readonly #playback: StreamPlayback;
  readonly #newline: string;
  readonly #comments: boolean;
  #text = "";
  #frames: Uint8Array[] = [];
  #frameBytes = 0;

  constructor(playback: StreamPlayback) {
    this.#playback = playback;
    this.#newline = playback.script.crlf === true ? "\r\n" : "\n";
    this.#comments = playback.script.keep_alive_comments === true;
  }

  add(event: DialectEvent, index: number): Promise<void> | null {
    const { script, record, answer } = this.#playback;
    this.#buffer(this.#frame(script.malformed === true && index === 2 ? { ...event, data: half(event.data) } : event));
    if (isTerminal(event)) record.terminal_sent = true;
    else record.events_emitted += 1;
    if (event.role === "usage" || event.role === "last") record.usage_sent = answer.usage !== null;
    // Reasoning precedes all visible output, so its tokens count with the first event.
    if (index === 0) record.output_tokens_emitted += answer.reasoningTokens;
    record.output_tokens_emitted += event.tokens;
    const paced = (script.event_ms ?? 0) > 0 || index === 0;
    return paced || this.#text.length + this.#frameBytes >= bounds.pieceBytes ? this.flush() : null;
  }

  addHalf(event: DialectEvent): void {
    const frame = this.#frame(event);
    this.#buffer(typeof frame === "string" ? half(frame) : frame.subarray(0, frame.length >> 1));
  }

  async addError(event: DialectEvent): Promise<void> {
    this.#buffer(this.#frame(event));
    this.#playback.record.events_emitted += 1;
    await this.flush();
  }

  flush(): Promise<void> | null {
    if (this.#text === "" && this.#frames.length === 0) return null;
    const bytes = this.#frames.length === 0 ? Buffer.from(this.#text) : Buffer.concat(this.#frames);
    this.#text = "";
    this.#frames = [];
    this.#frameBytes = 0;
    return this.#send(bytes);
  }

  async wait(ms: number): Promise<void> {
    const { script, outlet, pacer, ping, framing } = this.#playback;
    await this.flush();
    const keepAlive = ping === null ? framing.comment(this.#newline) : framing.frame(ping, this.#newline);
    const every = keepAlive === null ? 0 : (script.keep_alive_ms ?? 0);
    let left = ms;
    while (every > 0 && left > every && !outlet.closed) {
      await pacer.pause(every);
      left -= every;
      if (keepAlive !== null) await this.#send(Buffer.from(keepAlive));
    }
    await pacer.pause(left);
  }

  /** A stream consists of either text or binary frames, never both. */
  #buffer(frame: string | Uint8Array): void {
    if (typeof frame === "string") {
      this.#text += frame;
    } else {
      this.#frames.push(frame);
      this.#frameBytes += frame.length;
    }
  }

  #send(bytes: Buffer): Promise<void> | null {
    const { script, outlet, record, framing } = this.#playback;
    record.bytes_emitted += bytes.length;
    if (script.keep_sent === true && (record.sent_body ?? "").length < bounds.storedBytesMax) {
      record.sent_body = (record.sent_body ?? "") + bytes.toString(framing.binary ? "latin1" : "utf8");
    }
    return script.one_byte_chunks === true ? sendByteByByte(outlet, bytes) : outlet.write(bytes);
  }

  #frame(event: DialectEvent): string | Uint8Array {
    const frame = this.#playback.framing.frame(event, this.#newline);
    if (!this.#comments || typeof frame !== "string") return frame;
    return `${this.#playback.framing.comment(this.#newline) ?? ""}${frame}`;
  }
}

async function sendByteByByte(outlet: Outlet, bytes: Uint8Array): Promise<void> {
  for (let index = 0; index < bytes.length && !outlet.closed; index += 1) {
    await outlet.write(bytes.subarray(index, index + 1));
  }
}

function half(text: string): string {
  return text.slice(0, text.length >> 1);
}
