import { close, open, read, unlink, write } from "node:fs";
import { Failure, FairShare, type MemoryOwner, type ShareProblem } from "#core/index.ts";
import { isFullDisk } from "../disk/disk-errors.ts";

/**
 * One file without a name, read and written in the runtime's own threads. It is closed once, after what was under way
 * when that was asked for has ended.
 */
export class SpoolFile {
  readonly #file: number;
  #underWay = 0;
  #closing = false;

  private constructor(file: number) {
    this.#file = file;
  }

  static async create(path: string): Promise<SpoolFile> {
    const file = await new Promise<number>((resolve, reject) => {
      open(path, "wx+", 0o600, (error, opened) => (error === null ? resolve(opened) : reject(diskFailure(error))));
    });
    // Where an open file cannot lose its name, the next start removes it.
    await new Promise<void>((resolve) => unlink(path, () => resolve()));
    return new SpoolFile(file);
  }

  /** Writes all of it. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const rest = bytes.subarray(done);
      done += await this.#run<number>((settle) => write(this.#file, rest, 0, rest.length, position + done, settle));
    }
  }

  /** Fills `bytes` from `position` on, or as much of it as the file has. */
  async read(bytes: Uint8Array, position: number): Promise<number> {
    return await this.#run<number>((settle) => read(this.#file, bytes, 0, bytes.length, position, settle));
  }

  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#underWay === 0) close(this.#file);
  }

  #run<T>(start: (settle: (error: Error | null, result: T) => void) => void): Promise<T> {
    if (this.#closing) return Promise.reject(discarded());
    this.#underWay++;
    return new Promise((resolve, reject) => {
      start((error, result) => {
        this.#underWay--;
        if (this.#closing && this.#underWay === 0) close(this.#file);
        if (error === null) resolve(result);
        else reject(diskFailure(error));
      });
    });
  }
}

export function discarded(): Error {
  return new Error("a spooled body was read after it had been let go of");
}

function diskFailure(error: Error): Failure {
  if (isFullDisk(error)) return noRoom(error);
  return new Failure("internal_error", "The gateway could not keep the body of the request.", { cause: error });
}

/** How much all spooled bodies together hold, in memory and on disk, shared between keys and workspaces. */
export class SpoolRoom {
  readonly #memory: FairShare;
  readonly #disk: FairShare;

  constructor(memoryBytesMax: number, diskBytesMax: number) {
    this.#memory = new FairShare(memoryBytesMax);
    this.#disk = new FairShare(diskBytesMax);
  }

  /** False when memory is taken: the body then goes to disk early. */
  takeMemory(owner: MemoryOwner, bytes: number): boolean {
    return this.#memory.take(owner, bytes) === null;
  }

  giveMemory(owner: MemoryOwner, bytes: number): void {
    this.#memory.add(owner, -bytes);
  }

  /** For a body that holds `held`. Throws rate_limit_exceeded, or no_deployment_available where nothing is left for anybody. */
  takeDisk(owner: MemoryOwner, bytes: number, held: number): void {
    const problem = this.#disk.take(owner, bytes, 1, held);
    if (problem === "all") throw noRoom();
    if (problem !== null) throw shareHeld(problem);
  }

  giveDisk(owner: MemoryOwner, bytes: number): void {
    this.#disk.add(owner, -bytes);
  }
}

function noRoom(cause?: unknown): Failure {
  return new Failure("no_deployment_available", "The gateway holds too many large bodies at the moment; try again.", {
    retryAfterMs: 1_000,
    cause,
  });
}

function shareHeld(problem: Exclude<ShareProblem, "all">): Failure {
  const whose = problem === "key" ? "This key holds" : "The workspace of this key holds";
  const message = `${whose} its share of the gateway's space for forms and other large bodies. Try again when some of its calls have ended.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}
