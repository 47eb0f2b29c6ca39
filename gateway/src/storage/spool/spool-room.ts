import { Failure } from "#core/index.ts";

/** How much all spooled bodies together hold, in memory and on disk. */
export class SpoolRoom {
  readonly #memoryBytesMax: number;
  readonly #diskBytesMax: number;
  #memoryBytes = 0;
  #diskBytes = 0;

  constructor(memoryBytesMax: number, diskBytesMax: number) {
    this.#memoryBytesMax = memoryBytesMax;
    this.#diskBytesMax = diskBytesMax;
  }

  /** False when memory is taken: the body then goes to disk early. */
  takeMemory(bytes: number): boolean {
    if (this.#memoryBytes + bytes > this.#memoryBytesMax) return false;
    this.#memoryBytes += bytes;
    return true;
  }

  giveMemory(bytes: number): void {
    this.#memoryBytes -= bytes;
  }

  takeDisk(bytes: number): void {
    if (this.#diskBytes + bytes > this.#diskBytesMax) throw noRoom();
    this.#diskBytes += bytes;
  }

  giveDisk(bytes: number): void {
    this.#diskBytes -= bytes;
  }
}

export function noRoom(cause?: unknown): Failure {
  return new Failure("no_deployment_available", "The gateway holds too many large bodies at the moment; try again.", {
    retryAfterMs: 1_000,
    cause,
  });
}
