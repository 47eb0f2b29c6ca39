import { Failure, type Served } from "#core/index.ts";
import type { ReplyFacts, StreamTap, UsageReading, Wire } from "./dialect.ts";
import { emptyBytes } from "./json/bytes.ts";

/** Passes bytes unchanged. A tap of the dialect may read usage from them. */
export class RawTap implements StreamTap {
  readonly isRaw = true;
  events = 0;
  /** Only the connection ends it. */
  readonly ended = false;
  readonly failure = null;
  readonly id = null;
  readonly #listener: StreamTap | null;
  #isUnread: boolean;

  constructor(listener: StreamTap | null = null) {
    this.#listener = listener;
    this.#isUnread = listener === null;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length > 0) this.events++;
    this.listen(chunk);
    return chunk;
  }

  /** Bytes that turn out not to be of the dialect are still passed on. */
  protected listen(chunk: Uint8Array): void {
    if (this.#isUnread) return;
    try {
      this.#listener?.push(chunk);
    } catch {
      this.#isUnread = true;
    }
  }

  get held(): number {
    return this.#listener?.held ?? 0;
  }

  get usage(): UsageReading | null {
    return this.#listener?.usage ?? null;
  }

  get served(): Served | undefined {
    return this.#listener?.served;
  }

  get usageFinal(): boolean {
    return this.#listener?.usageFinal ?? false;
  }

  get outputEstimate(): number {
    return this.#listener?.outputEstimate ?? 0;
  }

  get contentSeen(): boolean {
    return this.#listener?.contentSeen ?? false;
  }

  /** The transport decides whether everything arrived. */
  complete(): boolean {
    return true;
  }

  rest(): Uint8Array {
    return emptyBytes;
  }
}

/** For calls that are passed through without being understood. */
export const rawWire: Wire = {
  readRequest() {
    throw new Failure("invalid_request", "The request is not in a known dialect.");
  },
  requestEdits: () => [],
  readReply: () => noReplyFacts,
  tapStream: () => new RawTap(),
  tapBytes: () => new RawTap(),
};

export const noReplyFacts: ReplyFacts = Object.freeze({ usage: null, errorMessage: null, outputEstimate: 0, id: null });
