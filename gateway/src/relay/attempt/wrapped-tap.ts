import type { Failure, Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "#protocols/index.ts";

/** A tap around another one: it says what that one says, unless a subclass knows better. */
export abstract class WrappedTap implements StreamTap {
  protected readonly inner: StreamTap;

  constructor(inner: StreamTap) {
    this.inner = inner;
  }

  abstract push(chunk: Uint8Array): Uint8Array;

  get held(): number {
    return this.inner.held ?? 0;
  }

  get events(): number {
    return this.inner.events;
  }

  get ended(): boolean {
    return this.inner.ended;
  }

  get usage(): UsageReading | null {
    return this.inner.usage;
  }

  get served(): Served | undefined {
    return this.inner.served;
  }

  get usageFinal(): boolean {
    return this.inner.usageFinal;
  }

  get failure(): Failure | null {
    return this.inner.failure;
  }

  get outputEstimate(): number {
    return this.inner.outputEstimate;
  }

  get contentSeen(): boolean {
    return this.inner.contentSeen;
  }

  get id(): string | null {
    return this.inner.id;
  }

  complete(): boolean {
    return this.inner.complete();
  }

  rest(): Uint8Array {
    return this.inner.rest();
  }
}

/** Turns a stream's framing into server-sent events before another tap listens to them. */
export class FramedTap extends WrappedTap {
  readonly #deframer: { push(chunk: Uint8Array): Uint8Array };

  constructor(deframer: { push(chunk: Uint8Array): Uint8Array }, inner: StreamTap) {
    super(inner);
    this.#deframer = deframer;
  }

  push(chunk: Uint8Array): Uint8Array {
    return this.inner.push(this.#deframer.push(chunk));
  }
}
