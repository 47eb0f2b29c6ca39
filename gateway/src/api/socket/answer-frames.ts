import { bounds, type HeldMemory } from "#core/index.ts";
import { eventLines, SseEvents, skimObject, skimValue, textOf } from "#protocols/index.ts";

/** How a response over a WebSocket has ended, as far as its session needs to know. */
export interface AnswerEnd {
  /** The response that nobody but this socket can go on from; null: it was not completed, or its upstream keeps it. */
  readonly id: string | null;
  /** What it said, as JSON text of each item. */
  readonly items: readonly string[];
}

export interface AnswerWriting {
  readonly send: (text: string) => Promise<void> | undefined;
  /** For what is put together of its events. */
  readonly held: HeldMemory;
  /** Ends when the socket has closed. */
  readonly signal: AbortSignal;
}

/**
 * The events of a stream as frames, each the data of one. Comments stay behind. `send` is awaited, so that a slow reader slows
 * the upstream.
 */
export async function sendAnswer(
  body: ReadableStream<Uint8Array>,
  { send, held, signal }: AnswerWriting,
): Promise<AnswerEnd> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  const heard = new HeardAnswer();
  const events = new SseEvents(bounds.imageEventBytesMax);
  try {
    if (signal.aborted) stop();
    for (;;) {
      const piece = await reader.read();
      if (piece.done) return heard.end();
      const all: Uint8Array[] = [];
      events.push(piece.value, (bytes, start, end) => void all.push(eventLines(bytes, start, end).data));
      held.hold(events.held.length + (all.length === 0 ? 0 : piece.value.length));
      for (const data of all) {
        if (data[0] !== OPEN_OBJECT) continue;
        heard.hear(data);
        const room = send(decoder.decode(data));
        if (room !== undefined) await room;
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Listens for what a response says of itself. Nothing is built but what is remembered: items may hold pictures. */
class HeardAnswer {
  #items: string[] = [];
  #characters = 0;
  #id: string | null = null;

  hear(data: Uint8Array): void {
    const members = skimObject(data, 0, data.length, ofEvent);
    const type = skimValue(data, members?.get("type"));
    const item = members?.get("item");
    const response = members?.get("response");
    if (type === "response.output_item.done" && item !== undefined) this.#itemDone(data.subarray(item.start, item.end));
    else if (type === "response.completed" && response !== undefined) {
      const facts = skimObject(data, response.start, response.end, ofResponse);
      if (skimValue(data, facts?.get("store")) === false) this.#completed(textOf(skimValue(data, facts?.get("id"))));
    }
  }

  end(): AnswerEnd {
    return { id: this.#id, items: this.#items };
  }

  #itemDone(item: Uint8Array): void {
    this.#characters += item.length;
    if (this.#characters <= bounds.socketLaneCharactersMax) this.#items.push(decoder.decode(item));
    else this.#items = [];
  }

  #completed(id: string | null): void {
    if (this.#characters <= bounds.socketLaneCharactersMax) this.#id = id;
  }
}

const OPEN_OBJECT = 0x7b;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const ofEvent: ReadonlySet<string> = new Set(["type", "item", "response"]);
const ofResponse: ReadonlySet<string> = new Set(["id", "store"]);
