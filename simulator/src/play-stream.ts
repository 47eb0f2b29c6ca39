import type { Answer } from "./answer.ts";
import { bounds } from "./bounds.ts";
import type { DialectEvent, Framing } from "./framing.ts";
import type { Outlet } from "./outlet.ts";
import type { Pacer } from "./pacer.ts";
import type { Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

export interface StreamShow {
  readonly events: Iterable<DialectEvent>;
  readonly answer: Answer;
  readonly script: Script;
  readonly outlet: Outlet;
  readonly pacer: Pacer;
  readonly record: TruthRecord;
  readonly framing: Framing;
  /** Fills long waits; null: a comment does. */
  readonly ping: DialectEvent | null;
  readonly error: () => DialectEvent;
}

/** Plays the events into the outlet, with the script's pacing and faults. The status line has been sent. */
export async function playStream(show: StreamShow): Promise<void> {
  const { script, outlet, record } = show;
  const writer = new EventWriter(show);
  let index = 0;
  for (const event of show.events) {
    if (isTerminal(event) && script.done === false) continue;
    const wait = (index === 0 ? script.first_event_ms : script.event_ms) ?? 0;
    if (wait > 0) await writer.silence(wait);
    if (await meetsFault(show, writer, event, index)) return;
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

/** True when the stream is over because of a fault. */
async function meetsFault(show: StreamShow, writer: EventWriter, event: DialectEvent, index: number): Promise<boolean> {
  const { script, outlet } = show;
  const stall = script.stall_after_events === index;
  const over = endings.find((ending) => script[ending] === index);
  if (!stall && over === undefined) return false;
  if (script.half_event === true) writer.addHalf(event);
  await writer.flush();
  if (stall) await writer.silence(script.stall_ms ?? bounds.waitMsMax);
  if (outlet.closed) return true;
  if (over === undefined) return false;
  if (over === "cut_after_events") outlet.cut();
  if (over === "reset_after_events") outlet.reset();
  if (over === "break_chunking_after_events") breakChunking(outlet);
  if (over === "error_event_after") await writer.addError(show.error());
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
  outlet.raw(Buffer.from("this is no chunk size\r\n"));
  outlet.cut();
}

function isTerminal(event: DialectEvent): boolean {
  return event.role === "terminal" || event.role === "last";
}

/** Frames events, gathers unpaced ones, and keeps the truth of what was handed to the connection. */
class EventWriter {
  readonly #show: StreamShow;
  readonly #newline: string;
  readonly #comments: boolean;
  #text = "";
  #frames: Uint8Array[] = [];
  #frameBytes = 0;

  constructor(show: StreamShow) {
    this.#show = show;
    this.#newline = show.script.crlf === true ? "\r\n" : "\n";
    this.#comments = show.script.keep_alive_comments === true;
  }

  add(event: DialectEvent, index: number): Promise<void> | null {
    const { script, record, answer } = this.#show;
    this.#gather(this.#frame(script.malformed === true && index === 2 ? { ...event, data: half(event.data) } : event));
    if (isTerminal(event)) record.terminal_sent = true;
    else record.events_emitted += 1;
    if (event.role === "usage" || event.role === "last") record.usage_sent = answer.usage !== null;
    // Reasoning comes before the first thing that is seen, so it is spent once anything is.
    if (index === 0) record.output_tokens_emitted += answer.reasoningTokens;
    record.output_tokens_emitted += event.tokens;
    const paced = (script.event_ms ?? 0) > 0 || index === 0;
    return paced || this.#text.length + this.#frameBytes >= bounds.pieceBytes ? this.flush() : null;
  }

  addHalf(event: DialectEvent): void {
    const frame = this.#frame(event);
    this.#gather(typeof frame === "string" ? half(frame) : frame.subarray(0, frame.length >> 1));
  }

  async addError(event: DialectEvent): Promise<void> {
    this.#gather(this.#frame(event));
    this.#show.record.events_emitted += 1;
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

  async silence(ms: number): Promise<void> {
    const { script, outlet, pacer, ping, framing } = this.#show;
    await this.flush();
    const filling = ping === null ? framing.comment(this.#newline) : framing.frame(ping, this.#newline);
    const every = filling === null ? 0 : (script.keep_alive_ms ?? 0);
    let left = ms;
    while (every > 0 && left > every && !outlet.closed) {
      await pacer.pause(every);
      left -= every;
      if (filling !== null) await this.#send(Buffer.from(filling));
    }
    await pacer.pause(left);
  }

  /** A stream is either text or binary, never both. */
  #gather(frame: string | Uint8Array): void {
    if (typeof frame === "string") {
      this.#text += frame;
    } else {
      this.#frames.push(frame);
      this.#frameBytes += frame.length;
    }
  }

  #send(bytes: Buffer): Promise<void> | null {
    const { script, outlet, record, framing } = this.#show;
    record.bytes_emitted += bytes.length;
    if (script.keep_sent === true && (record.sent_body ?? "").length < bounds.keptBytesMax) {
      record.sent_body = (record.sent_body ?? "") + bytes.toString(framing.binary ? "latin1" : "utf8");
    }
    return script.one_byte_chunks === true ? sendByteByByte(outlet, bytes) : outlet.write(bytes);
  }

  #frame(event: DialectEvent): string | Uint8Array {
    const frame = this.#show.framing.frame(event, this.#newline);
    if (!this.#comments || typeof frame !== "string") return frame;
    return `${this.#show.framing.comment(this.#newline) ?? ""}${frame}`;
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
