import type { Failure } from "#core/index.ts";
import { answerEvents, type EventWriter, type ReplyFacts, type StreamTap } from "#protocols/index.ts";

/** A whole answer in the caller's dialect. */
export interface TranslatedAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Pictures in it, if the upstream's usage does not count them. */
  readonly images: number;
}

export interface Translator {
  /** The body for the upstream. Rejects with Failure unsupported_by_model if dropping a field would change the answer. */
  body(): Promise<Uint8Array>;
  /** Translates a whole reply. Its bytes may be moved to a thread. */
  whole(reply: Uint8Array, facts: ReplyFacts): Promise<TranslatedAnswer>;
  /**
   * `inner` reads the upstream's events. `inStream` turns an error of the upstream into the caller's. Absent: the caller's dialect
   * has the same events, or none.
   */
  tap?(inner: StreamTap, inStream: (failure: Failure) => Failure): StreamTap;
  /** The request includes a web search, and the upstream may not report how often it searched. */
  readonly searches?: boolean;
}

export const streamType = "text/event-stream; charset=utf-8";

/** A whole answer as a finished stream, for a caller that requested a stream. */
export function wholeStream(writer: EventWriter, answer: Parameters<typeof answerEvents>[0]): TranslatedAnswer {
  let text = "";
  for (const event of answerEvents(answer)) text += writer.write(event);
  return { contentType: streamType, body: new TextEncoder().encode(text), images: 0 };
}

const warningsMax = 32;
const warningsBytesMax = 2_048;
/** Characters that a header cannot hold, and the separator. */
const unsafe = /[^\x20-\x7e]|;/g;

/** Warnings of one attempt: each once, bounded, safe in a header. */
export class Warnings {
  /** Created with the first: almost every call has none. */
  #texts: Set<string> | null = null;
  #isSent = false;
  /** Takes warnings that come after the headers. */
  later: ((warning: string) => void) | null = null;

  add(warning: string): void {
    const safe = warning.replace(unsafe, " ");
    this.#texts ??= new Set();
    if (this.#texts.size >= warningsMax || this.#texts.has(safe)) return;
    this.#texts.add(safe);
    if (this.#isSent) this.later?.(safe);
  }

  /** The value of x-sluice-warnings; null: there are none. */
  header(): string | null {
    this.#isSent = true;
    return this.#texts === null ? null : [...this.#texts].join("; ").slice(0, warningsBytesMax);
  }

  /** For the ledger, together within the same bound; null: there are none. */
  list(): readonly string[] | null {
    if (this.#texts === null) return null;
    const warnings: string[] = [];
    let left = warningsBytesMax;
    for (const text of this.#texts) {
      if (left <= 0) break;
      warnings.push(text.slice(0, left));
      left -= text.length;
    }
    return warnings;
  }

  [Symbol.iterator](): Iterator<string> {
    return (this.#texts ?? new Set<string>()).values();
  }
}
