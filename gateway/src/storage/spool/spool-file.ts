import { close, open, read, unlink, write } from "node:fs";
import { Failure } from "#core/index.ts";
import { isFullDisk } from "../disk/storage-unavailable.ts";
import { noRoom } from "./spool-room.ts";

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
