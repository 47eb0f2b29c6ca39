import { close, mkdirSync, open, read, readdirSync, unlink, unlinkSync, write } from "node:fs";
import { join } from "node:path";
import { bounds, Failure, FairShare, type MemoryOwner, pulledStream, type ShareProblem } from "#core/index.ts";
import type { Spool, Spooled, SpoolWriter } from "#ports/index.ts";
import { isFullDisk, unlessMissing } from "../disk/files.ts";

/** Limits for all bodies together. */
export const spoolMemoryTotalBytesMax = 64 * 1024 * 1024;
const spoolDiskBytesMax = 4 * 1024 * 1024 * 1024;

interface SpoolOptions {
  /** Created if missing, accessible to this user only. */
  readonly directory: string;
  /** Unique among the processes that use the directory. */
  readonly nextName: () => string;
  readonly memoryBytesMax?: number;
  readonly diskBytesMax?: number;
}

/**
 * Keeps small bodies in memory and large ones in files. Files are unlinked as soon as they are open, so that nothing outlives the call.
 * Removes leftovers of earlier runs.
 */
export function createSpool(options: SpoolOptions): Spool {
  const { directory, nextName } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  removeLeftovers(directory);
  const room: SpoolSpace = {
    memory: new FairShare(options.memoryBytesMax ?? spoolMemoryTotalBytesMax),
    disk: new FairShare(options.diskBytesMax ?? spoolDiskBytesMax),
  };
  return { open: (owner) => new FileSpoolWriter(room, owner, () => join(directory, `${nextName()}${suffix}`)) };
}

/** Space of all spooled bodies, shared fairly between keys and workspaces. */
interface SpoolSpace {
  readonly memory: FairShare;
  readonly disk: FairShare;
}

const suffix = ".spool";

/** Processes that have such a file open can still use it. */
function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.endsWith(suffix)) unlessMissing(() => unlinkSync(join(directory, name)));
  }
}

/** Per body. */
export const spoolMemoryBytesMax = 1024 * 1024;

/**
 * Receives a body piece by piece. Bytes are copied into blocks of equal size, so that a body in tiny pieces uses no more memory than
 * another. Blocks stay in memory while they fit; then all are written to a file, and one block buffers the following bytes.
 */
class FileSpoolWriter implements SpoolWriter {
  readonly #space: SpoolSpace;
  readonly #owner: MemoryOwner;
  readonly #path: () => string;
  #blocks: Uint8Array[] = [];
  /** Bytes in the last block. */
  #filled = bounds.spoolPieceBytes;
  #size = 0;
  #file: SpoolFile | null = null;
  /** Bytes in the file. */
  #written = 0;
  #ended = false;

  constructor(room: SpoolSpace, owner: MemoryOwner, path: () => string) {
    this.#space = room;
    this.#owner = owner;
    this.#path = path;
  }

  write(bytes: Uint8Array): Promise<void> | void {
    if (this.#ended) throw new Error("a spool was written to after its end");
    const taken = this.#fill(bytes);
    if (taken < bytes.length) return this.#writeRest(bytes.subarray(taken));
  }

  async end(): Promise<Spooled> {
    if (this.#file !== null) await this.#flush();
    if (this.#ended) throw discarded();
    this.#ended = true;
    const blocks = this.#blocks;
    this.#blocks = [];
    const size = this.#size;
    const file = this.#file;
    const releaseMemory = (): void => this.#space.memory.add(this.#owner, -blocks.length * bounds.spoolPieceBytes);
    if (file === null) return inMemory(blocks, size, releaseMemory);
    releaseMemory();
    return inFile(file, size, () => this.#space.disk.add(this.#owner, -size));
  }

  discard(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#space.memory.add(this.#owner, -this.#blocks.length * bounds.spoolPieceBytes);
    this.#space.disk.add(this.#owner, -this.#written);
    this.#blocks = [];
    this.#file?.close();
  }

  /** Fills the blocks in memory; returns the number of bytes taken. */
  #fill(bytes: Uint8Array): number {
    let taken = 0;
    while (taken < bytes.length) {
      if (this.#filled === bounds.spoolPieceBytes && !this.#addBlock()) break;
      const block = this.#blocks[this.#blocks.length - 1];
      if (block === undefined) break;
      const count = Math.min(bytes.length - taken, block.length - this.#filled);
      block.set(bytes.subarray(taken, taken + count), this.#filled);
      this.#filled += count;
      this.#size += count;
      taken += count;
    }
    return taken;
  }

  #addBlock(): boolean {
    const blocksMax = this.#file === null ? spoolMemoryBytesMax / bounds.spoolPieceBytes : 1;
    if (this.#blocks.length >= blocksMax) return false;
    // If memory is full, the body goes to disk earlier.
    if (this.#space.memory.take(this.#owner, bounds.spoolPieceBytes) !== null) return false;
    this.#blocks.push(new Uint8Array(bounds.spoolPieceBytes));
    this.#filled = 0;
    return true;
  }

  async #writeRest(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.length > 0) {
      await this.#flush();
      if (this.#ended) return;
      const taken = this.#fill(rest);
      // No block is available: write the piece directly.
      if (taken === 0) {
        await this.#append(rest);
        this.#size += rest.length;
        return;
      }
      rest = rest.subarray(taken);
    }
  }

  /** Writes the blocks to the file, creating it if needed, and keeps one empty block. */
  async #flush(): Promise<void> {
    const blocks = this.#blocks;
    for (const [index, block] of blocks.entries()) {
      await this.#append(index === blocks.length - 1 ? block.subarray(0, this.#filled) : block);
    }
    if (this.#ended || blocks.length === 0) return;
    this.#blocks = blocks.slice(0, 1);
    this.#space.memory.add(this.#owner, (1 - blocks.length) * bounds.spoolPieceBytes);
    this.#filled = 0;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    if (this.#ended) return;
    const problem = this.#space.disk.take(this.#owner, bytes.length, 1, this.#written);
    if (problem !== null) throw problem === "all" ? spaceExhausted() : shareExceeded(problem);
    const position = this.#written;
    this.#written += bytes.length;
    if (this.#file === null) {
      const file = await SpoolFile.create(this.#path());
      if (this.#ended) {
        file.close();
        return;
      }
      this.#file = file;
    }
    await this.#file.write(bytes, position);
  }
}

function inMemory(blocks: Uint8Array[], size: number, giveBack: () => void): Spooled {
  const read: ReadPiece = (at, limit) => {
    const block = blocks[Math.floor(at / bounds.spoolPieceBytes)];
    if (block === undefined) throw discarded();
    const offset = at % bounds.spoolPieceBytes;
    // A copy, because a stream's reader may transfer the buffer.
    return block.slice(offset, Math.min(block.length, offset + limit - at));
  };
  return spooled(size, read, () => {
    giveBack();
    blocks.length = 0;
  });
}

function inFile(file: SpoolFile, size: number, giveBack: () => void): Spooled {
  const read: ReadPiece = async (at, limit) => {
    const bytes = new Uint8Array(Math.min(bounds.spoolPieceBytes, limit - at));
    const count = await file.read(bytes, at);
    if (count === 0) throw new Error("a spooled body is shorter than it was");
    return bytes.subarray(0, count);
  };
  return spooled(size, read, () => {
    file.close();
    giveBack();
  });
}

type ReadPiece = (at: number, limit: number) => Uint8Array | Promise<Uint8Array>;

function spooled(size: number, readPiece: ReadPiece, release: () => void): Spooled {
  let isGone = false;
  return {
    size,
    read(start, end) {
      const limit = Math.min(end, size);
      let at = start;
      return pulledStream(async () => {
        if (at >= limit) return null;
        const piece = await readPiece(at, limit);
        at += piece.length;
        return piece;
      });
    },
    discard() {
      if (isGone) return;
      isGone = true;
      release();
    },
  };
}

/** An unlinked file, read and written in the runtime's threads. `close` waits for running operations. */
class SpoolFile {
  readonly #file: number;
  #running = 0;
  #closing = false;

  private constructor(file: number) {
    this.#file = file;
  }

  static async create(path: string): Promise<SpoolFile> {
    const file = await new Promise<number>((resolve, reject) => {
      open(path, "wx+", 0o600, (error, opened) => (error === null ? resolve(opened) : reject(diskFailure(error))));
    });
    // If an open file cannot be unlinked, the next start removes it.
    await new Promise<void>((resolve) => unlink(path, () => resolve()));
    return new SpoolFile(file);
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const rest = bytes.subarray(done);
      done += await this.#run<number>((settle) => write(this.#file, rest, 0, rest.length, position + done, settle));
    }
  }

  /** Reads as much as the file has. */
  async read(bytes: Uint8Array, position: number): Promise<number> {
    return await this.#run<number>((settle) => read(this.#file, bytes, 0, bytes.length, position, settle));
  }

  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    if (this.#running === 0) close(this.#file);
  }

  #run<T>(start: (settle: (error: Error | null, result: T) => void) => void): Promise<T> {
    if (this.#closing) return Promise.reject(discarded());
    this.#running++;
    return new Promise((resolve, reject) => {
      start((error, result) => {
        this.#running--;
        if (this.#closing && this.#running === 0) close(this.#file);
        if (error === null) resolve(result);
        else reject(diskFailure(error));
      });
    });
  }
}

function discarded(): Error {
  return new Error("a spooled body was read after it was discarded");
}

function diskFailure(error: Error): Failure {
  if (isFullDisk(error)) return spaceExhausted(error);
  return new Failure("internal_error", "The gateway cannot spool the request body.", { cause: error });
}

function spaceExhausted(cause?: unknown): Failure {
  return new Failure("no_deployment_available", "The gateway holds too many large bodies. Try again.", {
    retryAfterMs: 1_000,
    cause,
  });
}

function shareExceeded(problem: Exclude<ShareProblem, "all">): Failure {
  const whose = problem === "key" ? "This key holds" : "The workspace of this key holds";
  const message = `${whose} its share of the gateway's space for forms and other large bodies. Try again when some of its calls have ended.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}
