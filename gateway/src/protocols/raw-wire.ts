import { Failure, type Served } from "#core/index.ts";
import type { ReplyFacts, StreamTap, UsageReading, Wire } from "./dialect.ts";
import { emptyBytes } from "./json/bytes.ts";

/** Reads usage by another tap, the `inner` one. Null: there is none. */
export class OuterTap<Inner extends StreamTap | null> {
  protected readonly inner: Inner;

  constructor(inner: Inner) {
    this.inner = inner;
  }

  get held(): number {
    return this.inner?.held ?? 0;
  }

  get usage(): UsageReading | null {
    return this.inner?.usage ?? null;
  }

  get served(): Served | undefined {
    return this.inner?.served;
  }

  get usageFinal(): boolean {
    return this.inner?.usageFinal ?? false;
  }

  get outputEstimate(): number {
    return this.inner?.outputEstimate ?? 0;
  }

  get contentSeen(): boolean {
    return this.inner?.contentSeen ?? false;
  }
}

/** Passes bytes unchanged. A tap of the dialect may read usage from them. */
export class RawTap extends OuterTap<StreamTap | null> implements StreamTap {
  readonly isRaw = true;
  events = 0;
  /** Only the connection ends it. */
  readonly ended = false;
  readonly failure = null;
  readonly id = null;
  #isUnread = this.inner === null;

  constructor(inner: StreamTap | null = null) {
    super(inner);
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
      this.inner?.push(chunk);
    } catch {
      this.#isUnread = true;
    }
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
    throw new Failure("invalid_request", "The request's format is not supported.");
  },
  requestEdits: () => [],
  readReply: () => noReplyFacts,
  tapStream: () => new RawTap(),
  tapBytes: () => new RawTap(),
};

export const noReplyFacts: ReplyFacts = Object.freeze({ usage: null, errorMessage: null, outputEstimate: 0, id: null });
