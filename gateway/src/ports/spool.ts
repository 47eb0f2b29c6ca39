/** A place for bodies that are too large to be held: they are written as they arrive and read as often as needed. */
export interface Spool {
  open(): SpoolWriter;
}

/** One body that is arriving. One write at a time. */
export interface SpoolWriter {
  /**
   * The bytes have been taken when it returns or resolves: whoever waits for that slows the sender down. Throws
   * no_deployment_available (503) when there is no room for more, internal_error when the disk fails.
   */
  write(bytes: Uint8Array): Promise<void> | void;
  /** The whole body. Nothing can be written afterwards. */
  end(): Promise<Spooled>;
  /** Gives up: everything is let go of. Never throws; after `end` it does nothing. */
  discard(): void;
}

/** One body that has arrived. It holds room until it is discarded. */
export interface Spooled {
  readonly size: number;
  /** The bytes from `start` to `end` (exclusive), read from where they lie as they are pulled. */
  read(start: number, end: number): ReadableStream<Uint8Array>;
  /** Lets go of the body; what is being read breaks off. Never throws, and may be called again. */
  discard(): void;
}
