import type { Answer } from "./answer.ts";
import { bounds } from "./bounds.ts";
import type { DialectEvent } from "./dialect.ts";
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
  /** The data of an error event. */
  readonly errorData: string;
}

/** Plays the events into the outlet, with the script's pacing and faults. The status line has been sent. */
export async function playStream(show: StreamShow): Promise<void> {
  const { script, outlet, record } = show;
  const writer = new EventWriter(show);
  let index = 0;
  for (const event of show.events) {
    if (event.role === "terminal" && script.done === false) continue;
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
  if (over === "error_event_after") await writer.addError(show.errorData);
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

/** Frames events, gathers unpaced ones, and keeps the truth of what was handed to the connection. */
class EventWriter {
  readonly #show: StreamShow;
  readonly #newline: string;
  #pending = "";

  constructor(show: StreamShow) {
    this.#show = show;
    this.#newline = show.script.crlf === true ? "\r\n" : "\n";
  }

  add(event: DialectEvent, index: number): Promise<void> | null {
    const { script, record, answer } = this.#show;
    const data = script.malformed === true && index === 2 ? half(event.data) : event.data;
    this.#pending += this.#frame(event.event, data);
    if (event.role === "terminal") record.terminal_sent = true;
    else record.events_emitted += 1;
    if (event.role === "usage") record.usage_sent = true;
    // Reasoning comes before the first thing that is seen, so it is spent once anything is.
    if (index === 0) record.output_tokens_emitted += answer.reasoningTokens;
    record.output_tokens_emitted += event.tokens;
    const paced = (script.event_ms ?? 0) > 0 || index === 0;
    return paced || this.#pending.length >= bounds.pieceBytes ? this.flush() : null;
  }

  addHalf(event: DialectEvent): void {
    this.#pending += half(this.#frame(event.event, event.data));
  }

  async addError(data: string): Promise<void> {
    this.#pending += this.#frame(undefined, data);
    this.#show.record.events_emitted += 1;
    await this.flush();
  }

  flush(): Promise<void> | null {
    if (this.#pending === "") return null;
    const text = this.#pending;
    this.#pending = "";
    return this.#send(text);
  }

  async silence(ms: number): Promise<void> {
    const { script, outlet, pacer } = this.#show;
    await this.flush();
    const every = script.keep_alive_ms ?? 0;
    let left = ms;
    while (every > 0 && left > every && !outlet.closed) {
      await pacer.pause(every);
      left -= every;
      await this.#send(`: keep-alive${this.#newline}${this.#newline}`);
    }
    await pacer.pause(left);
  }

  #send(text: string): Promise<void> | null {
    const { script, outlet, record } = this.#show;
    const bytes = Buffer.from(text);
    record.bytes_emitted += bytes.length;
    if (script.keep_sent === true && (record.sent_body ?? "").length < bounds.keptBytesMax) {
      record.sent_body = (record.sent_body ?? "") + text;
    }
    return script.one_byte_chunks === true ? sendByteByByte(outlet, bytes) : outlet.write(bytes);
  }

  #frame(name: string | undefined, data: string): string {
    const newline = this.#newline;
    const comment = this.#show.script.keep_alive_comments === true ? `: keep-alive${newline}${newline}` : "";
    return `${comment}${name === undefined ? "" : `event: ${name}${newline}`}data: ${data}${newline}${newline}`;
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
