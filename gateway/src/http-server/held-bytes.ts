import type { Socket } from "bun";
import { bounds } from "#core/index.ts";

const nothing = Buffer.alloc(0);

/** Holds bytes that arrived behind the current request. The socket is paused while they are too many, or when its reader asks for it. */
export class HeldBytes {
  /** Measures how fast the caller sends. */
  readonly pace: Pace;
  readonly #socket: Pick<Socket, "pause" | "resume">;
  #bytes: Buffer = nothing;
  #paused = false;
  #closed = false;

  constructor(socket: Pick<Socket, "pause" | "resume">, pace: Pace) {
    this.#socket = socket;
    this.pace = pace;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Whether the caller sends too slowly. Called once per tick. */
  isSlow(): boolean {
    return !this.#paused && this.pace.turn();
  }

  add(bytes: Buffer): void {
    this.#bytes = this.isEmpty ? bytes : Buffer.concat([this.#bytes, bytes]);
    if (this.#bytes.length > bounds.pipelinedBytesMax) this.pause();
  }

  /** Removes and returns all bytes. */
  take(): Buffer {
    const bytes = this.#bytes;
    this.#bytes = nothing;
    return bytes;
  }

  close(): void {
    this.#closed = true;
    this.take();
  }

  pause(): void {
    if (this.#paused || this.#closed) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused || this.#closed || this.#bytes.length > bounds.pipelinedBytesMax) return;
    this.#paused = false;
    this.#socket.resume();
  }
}

const stopped = Number.POSITIVE_INFINITY;

/**
 * Detects a caller that is too slow. The caller has some seconds, and gains one with each `slowBytesPerSecond` bytes, up to the initial
 * number: only an average below that rate is too slow. It costs an addition per piece and a subtraction per tick.
 */
export class Pace {
  readonly #bytesMax: number;
  readonly #bytesPerTurn: number;
  #bytesLeft = stopped;

  constructor(patienceMs: number, turnMs: number) {
    this.#bytesMax = (bounds.slowBytesPerSecond * patienceMs) / 1_000;
    this.#bytesPerTurn = (bounds.slowBytesPerSecond * turnMs) / 1_000;
  }

  /** Starts to wait for the caller, unless it already does. */
  start(): void {
    if (this.#bytesLeft === stopped) this.#bytesLeft = this.#bytesMax;
  }

  stop(): void {
    this.#bytesLeft = stopped;
  }

  /** Bytes were sent or received. Starts to wait for the caller, unless it already does. */
  moved(bytes: number): void {
    this.#bytesLeft = Math.min(this.#bytesMax, this.#bytesLeft + bytes);
  }

  /** A tick has passed while waiting. Returns whether the caller is too slow. */
  turn(): boolean {
    this.#bytesLeft -= this.#bytesPerTurn;
    return this.#bytesLeft < 0;
  }
}
