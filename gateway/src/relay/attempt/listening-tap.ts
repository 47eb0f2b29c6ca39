import type { Failure, Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "#protocols/index.ts";

/** Passes every byte as it comes, whatever its framing is, while another tap listens to it. */
export class ListeningTap implements StreamTap {
  readonly isRaw = true;
  /** The end is the connection's: what stands behind the last event is passed too. */
  readonly ended = false;
  /** An error that the upstream tells has been passed on like everything else. */
  readonly failure: Failure | null = null;
  readonly #inner: StreamTap;
  #pieces = 0;
  #deaf = false;

  constructor(inner: StreamTap) {
    this.#inner = inner;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length > 0) this.#pieces++;
    if (!this.#deaf) {
      try {
        this.#inner.push(chunk);
      } catch {
        // What is not of the dialect after all is no reason to keep it from its caller.
        this.#deaf = true;
      }
    }
    return chunk;
  }

  get held(): number {
    return this.#inner.held ?? 0;
  }

  get events(): number {
    return this.#pieces;
  }

  get usage(): UsageReading | null {
    return this.#inner.usage;
  }

  get served(): Served | undefined {
    return this.#inner.served;
  }

  get usageFinal(): boolean {
    return this.#inner.usageFinal;
  }

  get outputEstimate(): number {
    return this.#inner.outputEstimate;
  }

  get contentSeen(): boolean {
    return this.#inner.contentSeen;
  }

  get id(): string | null {
    return null;
  }

  complete(): boolean {
    return true;
  }

  rest(): Uint8Array {
    return noBytes;
  }
}

const noBytes = new Uint8Array(0);
