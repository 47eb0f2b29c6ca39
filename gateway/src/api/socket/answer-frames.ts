import { bounds } from "#core/index.ts";
import { eventData, SseEvents } from "#protocols/index.ts";

/** How a response over a WebSocket has ended, as far as its session needs to know. */
export interface AnswerEnd {
  /** The response that nobody but this socket can go on from; null: it was not completed, or its upstream keeps it. */
  readonly id: string | null;
  /** What it said, as JSON text of each item. */
  readonly items: readonly string[];
}

/**
 * The events of a stream as frames, each the data of one. Comments stay behind. `send` is awaited, so that a slow reader slows
 * the upstream.
 */
export async function sendAnswer(
  body: ReadableStream<Uint8Array>,
  send: (text: string) => Promise<void> | undefined,
  signal: AbortSignal,
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
      const texts: string[] = [];
      events.push(piece.value, (bytes, start, end) => void texts.push(eventData(bytes, start, end)));
      for (const text of texts) {
        if (!text.startsWith("{")) continue;
        heard.hear(text);
        const room = send(text);
        if (room !== undefined) await room;
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Listens for what a response says of itself; only the few events that tell it are parsed. */
class HeardAnswer {
  #items: string[] = [];
  #characters = 0;
  #id: string | null = null;

  hear(text: string): void {
    if (text.includes('"response.output_item.done"')) this.#itemDone(eventIn(text));
    else if (text.includes('"response.completed"')) this.#completed(eventIn(text));
  }

  end(): AnswerEnd {
    return { id: this.#id, items: this.#items };
  }

  #itemDone({ type, item }: Event): void {
    if (type !== "response.output_item.done" || item === undefined) return;
    const text = JSON.stringify(item);
    this.#characters += text.length;
    if (this.#characters <= bounds.socketLaneCharactersMax) this.#items.push(text);
    else this.#items = [];
  }

  #completed({ type, response }: Event): void {
    if (type !== "response.completed" || response?.store !== false) return;
    if (this.#characters <= bounds.socketLaneCharactersMax) this.#id = response.id ?? null;
  }
}

interface Event {
  readonly type?: string;
  readonly item?: unknown;
  readonly response?: { readonly id?: string; readonly store?: boolean };
}

/** What cannot be read passes all the same; it is its reader's to judge. */
function eventIn(text: string): Event {
  try {
    return JSON.parse(text) as Event;
  } catch {
    return {};
  }
}
