import { Failure } from "#core/index.ts";
import type { ReplyFacts, StreamTap, Wire } from "./dialect.ts";

/** Bytes of which nobody knows what they mean, on their way as they are. They tell of no usage. */
export class AnyTap implements StreamTap {
  readonly isRaw = true;
  events = 0;
  readonly ended = false;
  readonly usage = null;
  readonly usageFinal = false;
  readonly failure = null;
  readonly outputEstimate = 0;
  readonly contentSeen = false;
  readonly id = null;

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length > 0) this.events++;
    return chunk;
  }

  /** Whether all of it came is for the transport to say. */
  complete(): boolean {
    return true;
  }

  rest(): Uint8Array {
    return noBytes;
  }
}

/** How whatever is passed through without being understood is listened to: not at all. */
export const anyWire: Wire = {
  readRequest() {
    throw new Failure("invalid_request", "Nobody knows what is spoken there.");
  },
  requestEdits: () => [],
  readReply: () => nothingTold,
  tapStream: () => new AnyTap(),
  tapBytes: () => new AnyTap(),
};

/** What a reply says of itself that nobody understands. */
export const nothingTold: ReplyFacts = Object.freeze({ usage: null, errorMessage: null, outputEstimate: 0, id: null });

const noBytes = new Uint8Array(0);
