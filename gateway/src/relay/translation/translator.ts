import type { Failure } from "#core/index.ts";
import type { ReplyFacts, StreamTap } from "#protocols/index.ts";

/** A whole answer in the caller's dialect. */
export interface TranslatedAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Pictures in it, for those upstreams whose usage does not count them. */
  readonly images: number;
}

/** One attempt whose upstream does not speak its caller's dialect: how its request goes out and its answer comes back. */
export interface Translator {
  /** The body for the upstream. Throws Failure unsupported_by_model when it cannot be carried honestly. */
  body(): Uint8Array | Promise<Uint8Array>;
  /** The reply may be given away to a thread. `facts`: what it says of itself. */
  whole(reply: Uint8Array, facts: ReplyFacts): TranslatedAnswer | Promise<TranslatedAnswer>;
  /**
   * `inner` listens to the upstream's own events; what comes out of the tap is the caller's. `inStream` gives an error of the
   * upstream's as its caller is told of it.
   */
  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap;
  /** Takes what somebody else could not carry. */
  readonly warn: (what: string) => void;
  /** What could not be carried so far, as the value of x-sluice-warnings; null when all could. */
  warnings(): string | null;
  /** All that could not be carried, also what showed once the headers had gone. */
  readonly warned: Warnings;
  /** The upstream was asked to search the web, and may not say how often it did. */
  readonly searches: boolean;
}

export const streamType = "text/event-stream; charset=utf-8";

const warningsMax = 32;
const warningsBytesMax = 2_048;
/** What a header cannot hold, and the separator. */
const unsafe = /[^\x20-\x7e]|;/g;

/** Warnings of one attempt: each once, bounded, safe in a header. */
export class Warnings {
  /** Made with the first: almost every call has none. */
  #said: Set<string> | null = null;

  constructor(said: Iterable<string> = []) {
    for (const what of said) this.add(what);
  }

  /** The text as it will be told; null when it was said before or there are too many. */
  add(what: string): string | null {
    const safe = what.replace(unsafe, " ");
    this.#said ??= new Set();
    if (this.#said.size >= warningsMax || this.#said.has(safe)) return null;
    this.#said.add(safe);
    return safe;
  }

  header(): string | null {
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
