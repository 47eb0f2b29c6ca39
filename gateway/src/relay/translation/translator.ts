import type { Failure } from "#core/index.ts";
import { answerEvents, type EventWriter, type ReplyFacts, type StreamTap } from "#protocols/index.ts";

/** A whole answer in the caller's dialect. */
export interface TranslatedAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Pictures in it, for those upstreams whose usage does not count them. */
  readonly images: number;
}

export interface Translator {
  /** The body for the upstream. Throws Failure unsupported_by_model when it cannot be carried honestly. */
  body(): Uint8Array | Promise<Uint8Array>;
  /** The reply may be moved to a thread. */
  whole(reply: Uint8Array, facts: ReplyFacts): TranslatedAnswer | Promise<TranslatedAnswer>;
  /**
   * `inner` reads the upstream's events. `inStream` turns an error of the upstream into the caller's. Absent: the caller's dialect
   * has the same events, or none.
   */
  tap?(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap;
  /** The upstream was asked to search the web, and may not say how often it did. */
  readonly searches?: boolean;
}

export const streamType = "text/event-stream; charset=utf-8";

/** A whole answer as a stream that has ended, for a caller that asked for a stream. */
export function wholeStream(writer: EventWriter, answer: Parameters<typeof answerEvents>[0]): TranslatedAnswer {
  let text = "";
  for (const event of answerEvents(answer)) text += writer.write(event);
  return { contentType: streamType, body: new TextEncoder().encode(text), images: 0 };
}

const warningsMax = 32;
const warningsBytesMax = 2_048;
/** What a header cannot hold, and the separator. */
const unsafe = /[^\x20-\x7e]|;/g;

/** Warnings of one attempt: each once, bounded, safe in a header. */
export class Warnings {
  /** Created with the first: almost every call has none. */
  #said: Set<string> | null = null;
  #isSent = false;
  /** Takes those that come after the headers. */
  later: ((what: string) => void) | null = null;

  readonly add = (what: string): void => {
    const safe = what.replace(unsafe, " ");
    this.#said ??= new Set();
    if (this.#said.size >= warningsMax || this.#said.has(safe)) return;
    this.#said.add(safe);
    if (this.#isSent) this.later?.(safe);
  };

  /** The value of x-sluice-warnings; null when there are none. */
  header(): string | null {
    this.#isSent = true;
    return this.#said === null ? null : [...this.#said].join("; ").slice(0, warningsBytesMax);
  }

  /** As the ledger keeps them, together within the same bound; null when there are none. */
  list(): readonly string[] | null {
    if (this.#said === null) return null;
    const kept: string[] = [];
    let left = warningsBytesMax;
    for (const said of this.#said) {
      if (left <= 0) break;
      kept.push(said.slice(0, left));
      left -= said.length;
    }
    return kept;
  }

  [Symbol.iterator](): Iterator<string> {
    return (this.#said ?? new Set<string>()).values();
  }
}
