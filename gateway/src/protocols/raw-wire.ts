import { Failure, type Served } from "#core/index.ts";
import type { ReplyFacts, StreamTap, UsageReading, Wire } from "./dialect.ts";

/** Passes bytes of any kind as they come. A tap of their dialect may listen to them: what it reads of their use counts. */
export class RawTap implements StreamTap {
  readonly isRaw = true;
  events = 0;
  /** The connection ends it: what follows the last event is passed, too. */
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

  /** What turns out not to be of the dialect still goes to the caller. */
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

  /** Whether all of it came is for the transport to say. */
  complete(): boolean {
    return true;
  }

  rest(): Uint8Array {
    return emptyBytes;
  }
}

/** How whatever is passed through without being understood is listened to: not at all. */
export const rawWire: Wire = {
  readRequest() {
    throw new Failure("invalid_request", "Nobody knows what is spoken there.");
  },
  requestEdits: () => [],
  readReply: () => noReplyFacts,
  tapStream: () => new RawTap(),
  tapBytes: () => new RawTap(),
};

/** What a reply says of itself that nobody understands. */
export const noReplyFacts: ReplyFacts = Object.freeze({ usage: null, errorMessage: null, outputEstimate: 0, id: null });

const emptyBytes = new Uint8Array(0);
