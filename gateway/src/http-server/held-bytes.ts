import type { Socket } from "bun";
import { bounds } from "#core/index.ts";

/** What came before its time; the socket is not read while that is too much, or its reader asks for a pause. */
export class HeldBytes {
  /** Of the caller, while what it has begun to send is waited for. */
  readonly pace: Pace;
  readonly #socket: Pick<Socket, "pause" | "resume">;
  #pieces: Buffer[] = [];
  #length = 0;
  #paused = false;
  #closed = false;

  constructor(socket: Pick<Socket, "pause" | "resume">, pace: Pace) {
    this.#socket = socket;
    this.pace = pace;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Once each turn of the wheel: whether what is waited for comes too slowly. */
  isSlow(): boolean {
    return !this.#paused && this.pace.turn();
  }

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    if (this.#length > bounds.pipelinedBytesMax) this.pause();
  }

  /** All of it, in one piece; nothing is held from here on. */
  take(): Buffer {
    const pieces = this.#pieces;
    this.clear();
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  clear(): void {
    this.#pieces = [];
    this.#length = 0;
  }

  close(): void {
    this.#closed = true;
    this.clear();
  }

  pause(): void {
    if (this.#paused || this.#closed) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused || this.#closed || this.#length > bounds.pipelinedBytesMax) return;
    this.#paused = false;
    this.#socket.resume();
  }
}

const stopped = Number.POSITIVE_INFINITY;

/**
 * How long a caller is waited for. It has some seconds, and gains one with each `slowBytesPerSecond` bytes that move, up to as many seconds
 * as before: only an average below that rate is too slow. Costs an addition for what moves, and a subtraction each turn of the wheel.
 */
export class Pace {
  readonly #bytesMax: number;
  readonly #bytesPerTurn: number;
  #bytesLeft = stopped;

  constructor(patienceMs: number, turnMs: number) {
    this.#bytesMax = (bounds.slowBytesPerSecond * patienceMs) / 1_000;
    this.#bytesPerTurn = (bounds.slowBytesPerSecond * turnMs) / 1_000;
  }

  /** From now on the caller is waited for; nothing changes where it is already. */
  start(): void {
    if (this.#bytesLeft === stopped) this.#bytesLeft = this.#bytesMax;
  }

  stop(): void {
    this.#bytesLeft = stopped;
  }

  /** So many bytes have moved: the caller is waited for, if it was not before. */
  moved(bytes: number): void {
    this.#bytesLeft = Math.min(this.#bytesMax, this.#bytesLeft + bytes);
  }

  /** A turn in which the caller was waited for. True: it is too slow. */
  turn(): boolean {
    this.#bytesLeft -= this.#bytesPerTurn;
    return this.#bytesLeft < 0;
  }
}
