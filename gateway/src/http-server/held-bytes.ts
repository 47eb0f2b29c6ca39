import type { Socket } from "bun";
import { bounds } from "#core/index.ts";
import type { Pace } from "./pace.ts";

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
