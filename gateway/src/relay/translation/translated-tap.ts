import { type AnswerEvent, asFailure, bounds, type Failure } from "#core/index.ts";
import {
  type AnswerSource,
  answerEndedInError,
  type CallerToolNames,
  type EventReader,
  type EventWriter,
  eventData,
  eventLines,
  type NewId,
  OuterTap,
  SseEvents,
  type StreamTap,
  setMediaAside,
  type UpstreamCodec,
  unsupportedReply,
} from "#protocols/index.ts";

export interface TranslatedTapOptions {
  /** Reads the upstream's own events and usage. */
  readonly inner: StreamTap;
  readonly reader: UpstreamCodec;
  readonly writer: EventWriter;
  readonly source: AnswerSource;
  /** Absent: no tool can be called. */
  readonly toolNames?: CallerToolNames;
  /** Turns an error of the upstream into the caller's. */
  readonly inStream: (failure: Failure) => Failure;
  /** An error as a whole event of the caller's dialect, for writers that leave it to others. */
  readonly renderError: (failure: Failure) => string;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const nothing: readonly Uint8Array[] = [];
const emptyBytes = new Uint8Array(0);

/** Reads a stream of one dialect and writes it in another. */
export class TranslatedTap extends OuterTap<StreamTap> implements StreamTap {
  readonly #options: TranslatedTapOptions;
  // The inner tap bounds the events already, by the limit of their dialect.
  readonly #sse = new SseEvents(bounds.imageEventBytesMax);
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.#read(bytes, start, end);
  readonly #media: HeldMedia;
  #text = "";
  #more: readonly Uint8Array[] = nothing;
  #over = false;
  /** The answer ended in an error; its usage may still come. */
  #isBroken = false;
  #brokenBy: Failure | null = null;

  constructor(options: TranslatedTapOptions) {
    super(options.inner);
    this.#options = options;
    this.#reader = options.reader.readEvents((event) => this.#write(event), options.source);
    this.#writer = options.writer;
    this.#media = new HeldMedia(options.source.newId, options.writer.repeatsOutput === true);
  }

  push(chunk: Uint8Array): Uint8Array {
    const inner = this.inner;
    this.#sse.push(inner.push(chunk), this.#visit);
    if (inner.ended && inner.failure === null) this.#end();
    return this.#take();
  }

  takeMore(): readonly Uint8Array[] {
    const more = this.#more;
    this.#more = nothing;
    return more;
  }

  /** Before the next event. */
  comment(line: string): void {
    this.#text += `: ${line}\n\n`;
  }

  /** An error event of the caller's dialect that takes the place of the rest. */
  breakOff(failure: Failure): Uint8Array {
    this.#write({ kind: "error", failure });
    return this.#take();
  }

  /** The inner tap completes a last event without its blank line. */
  rest(): Uint8Array {
    if (this.failure === null) {
      this.#sse.push(this.inner.rest(), this.#visit);
      this.#end();
    }
    return this.#take();
  }

  override get held(): number {
    return super.held + this.#media.bytes;
  }

  get events(): number {
    return this.inner.events;
  }

  get id(): string | null {
    return this.inner.id;
  }

  complete(): boolean {
    return this.inner.complete();
  }

  /** Also when the rest cannot be translated. After an upstream's own error its usage may still come. */
  get ended(): boolean {
    const inner = this.inner;
    return inner.ended || (this.#brokenBy !== null && inner.failure === null);
  }

  get failure(): Failure | null {
    return this.#brokenBy ?? this.inner.failure;
  }

  #read(bytes: Uint8Array, start: number, end: number): void {
    if (this.#over) return;
    const isLarge = end - start > bounds.builtEventBytesMax;
    const data = isLarge
      ? decoder.decode(this.#media.setAside(eventLines(bytes, start, end).data))
      : eventData(bytes, start, end);
    if (data !== "") this.#reader.read(data);
  }

  #end(): void {
    if (this.#over) return;
    this.#reader.end();
    this.#over = true;
  }

  #write(event: AnswerEvent): void {
    if (this.#over) return;
    if (event.kind === "finish" && event.finish.reason === "error") {
      this.#isBroken = true;
      return;
    }
    if (event.kind === "end" && this.#isBroken) {
      this.#write({ kind: "error", failure: answerEndedInError() });
      return;
    }
    if (event.kind !== "error") {
      this.#text += this.#writer.write(this.#options.toolNames?.event(event) ?? event);
      return;
    }
    const failure = this.#options.inStream(asFailure(event.failure));
    const text = this.#writer.write({ kind: "error", failure });
    this.#over = true;
    this.#brokenBy ??= failure;
    this.#text += text === "" ? this.#options.renderError(failure) : text;
  }

  #take(): Uint8Array {
    if (this.#text === "") return emptyBytes;
    const text = this.#text;
    this.#text = "";
    const pieces = this.#media.write(text);
    if (pieces.length > 1) this.#more = pieces.slice(1);
    return pieces[0] ?? emptyBytes;
  }
}

interface HeldPiece {
  readonly bytes: Uint8Array;
  written: boolean;
}

/**
 * Pictures of one translated stream, which are never decoded: while its event is translated a mark takes the place of each.
 * `repeats`: a picture may be written again, and is stored until the stream ends.
 */
export class HeldMedia {
  readonly #newId: NewId;
  readonly #repeats: boolean;
  readonly #pieces = new Map<number, HeldPiece>();
  #next = 0;
  /** The beginning of each mark, which the upstream cannot guess; empty until there is a picture. */
  #key = "";
  #bytes = 0;

  constructor(newId: NewId, repeats: boolean) {
    this.#newId = newId;
    this.#repeats = repeats;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** An event's JSON with marks in the place of media. Throws Failure upstream_error when what is left is too large to be built. */
  setAside(data: Uint8Array): Uint8Array {
    if (this.#key === "") this.#key = this.#newId("media_");
    const first = this.#next;
    const aside = setMediaAside(data, bounds.eventJsonBytesMax, (index) => `${this.#key}.${first + index};`);
    if (aside === null) {
      const max = bounds.eventJsonBytesMax;
      throw unsupportedReply(
        `The upstream sent an event of more than ${max} bytes without media, which cannot be translated.`,
      );
    }
    for (const bytes of aside.media) this.#hold(bytes);
    return aside.data;
  }

  /** The text in pieces, with media in the place of marks. Throws Failure upstream_error when one is no longer held. */
  write(text: string): readonly Uint8Array[] {
    if (this.#pieces.size === 0 || !text.includes(this.#key)) return [encoder.encode(text)];
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let at = text.indexOf(this.#key); at !== -1; at = text.indexOf(this.#key, from)) {
      const end = text.indexOf(";", at);
      const index = Number(text.slice(at + this.#key.length + 1, end));
      parts.push(encoder.encode(text.slice(from, at)), this.#bytesOf(index));
      from = end + 1;
    }
    parts.push(encoder.encode(text.slice(from)));
    if (!this.#repeats) for (const [index, { written }] of this.#pieces) if (written) this.#drop(index);
    return parts;
  }

  #hold(bytes: Uint8Array): void {
    for (const [index, { written }] of this.#pieces) {
      if (this.#bytes + bytes.length <= bounds.streamMediaBytesMax) break;
      if (!written) this.#drop(index);
    }
    if (this.#bytes + bytes.length > bounds.streamMediaBytesMax) throw tooMuch();
    this.#pieces.set(this.#next++, { bytes, written: false });
    this.#bytes += bytes.length;
  }

  #bytesOf(index: number): Uint8Array {
    const piece = this.#pieces.get(index);
    if (piece === undefined) throw tooMuch();
    piece.written = true;
    return piece.bytes;
  }

  #drop(index: number): void {
    this.#bytes -= this.#pieces.get(index)?.bytes.length ?? 0;
    this.#pieces.delete(index);
  }
}

const encoder = new TextEncoder();

function tooMuch() {
  return unsupportedReply(`The upstream's answer holds more than ${bounds.streamMediaBytesMax} bytes of media.`);
}
