import { close, mkdirSync, open, read, readdirSync, unlink, unlinkSync, write } from "node:fs";
import { join } from "node:path";
import { bounds, Failure, FairShare, type MemoryOwner, pulledStream, type ShareProblem } from "#core/index.ts";
import type { Spool, Spooled, SpoolWriter } from "#ports/index.ts";
import { isFullDisk, unlessMissing } from "../disk/files.ts";

/** All bodies that wait to be sent, in memory and on disk. */
export const spoolMemoryTotalBytesMax = 64 * 1024 * 1024;
const spoolDiskBytesMax = 4 * 1024 * 1024 * 1024;

interface SpoolOptions {
  /** Made when it is missing; only this process's user may look into it. */
  readonly directory: string;
  /** Told apart from the names that other processes of the same directory use. */
  readonly nextName: () => string;
  readonly memoryBytesMax?: number;
  readonly diskBytesMax?: number;
}

/**
 * Keeps small bodies in memory and large ones in files. A file has no name left as soon as it is open, so that
 * nothing of a body outlives its call, however the process ends; what an earlier run still left is removed now.
 */
export function createSpool(options: SpoolOptions): Spool {
  const { directory, nextName } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  removeLeftovers(directory);
  const room: SpoolRoom = {
    memory: new FairShare(options.memoryBytesMax ?? spoolMemoryTotalBytesMax),
    disk: new FairShare(options.diskBytesMax ?? spoolDiskBytesMax),
  };
  return { open: (owner) => new FileSpoolWriter(room, owner, () => join(directory, `${nextName()}${suffix}`)) };
}

/** How much all spooled bodies together hold, shared between keys and workspaces. */
interface SpoolRoom {
  readonly memory: FairShare;
  readonly disk: FairShare;
}

const suffix = ".spool";

/** Another process that has such a file open goes on using it without its name. */
function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.endsWith(suffix)) unlessMissing(() => unlinkSync(join(directory, name)));
  }
}

/** What one body keeps in memory. */
export const spoolMemoryBytesMax = 1024 * 1024;

/**
 * Takes a body piece by piece. Bytes are copied into blocks of one size, so that a body that comes in crumbs costs no
 * more than another. While the blocks fit into memory they stay there; then all of them go to a file, and one block
 * gathers what is written next.
 */
class FileSpoolWriter implements SpoolWriter {
  readonly #room: SpoolRoom;
  readonly #owner: MemoryOwner;
  readonly #path: () => string;
  #blocks: Uint8Array[] = [];
  /** Bytes in the last block. */
  #filled = bounds.spoolPieceBytes;
  #size = 0;
  #file: SpoolFile | null = null;
  /** Bytes that are in the file. */
  #written = 0;
  #over = false;

  constructor(room: SpoolRoom, owner: MemoryOwner, path: () => string) {
    this.#room = room;
    this.#owner = owner;
    this.#path = path;
  }

  write(bytes: Uint8Array): Promise<void> | void {
    if (this.#over) throw new Error("a spool was written to after its end");
    const taken = this.#fill(bytes);
    if (taken < bytes.length) return this.#writeRest(bytes.subarray(taken));
  }

  async end(): Promise<Spooled> {
    if (this.#file !== null) await this.#flush();
    if (this.#over) throw discarded();
    this.#over = true;
    const blocks = this.#blocks;
    this.#blocks = [];
    const size = this.#size;
    const file = this.#file;
    const giveMemory = (): void => this.#room.memory.add(this.#owner, -blocks.length * bounds.spoolPieceBytes);
    if (file === null) return inMemory(blocks, size, giveMemory);
    giveMemory();
    return inFile(file, size, () => this.#room.disk.add(this.#owner, -size));
  }

  discard(): void {
    if (this.#over) return;
    this.#over = true;
    this.#room.memory.add(this.#owner, -this.#blocks.length * bounds.spoolPieceBytes);
    this.#room.disk.add(this.#owner, -this.#written);
    this.#blocks = [];
    this.#file?.close();
  }

  /** Puts into the blocks what they can take without the disk; returns how many bytes that were. */
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
    // While memory is taken the body goes to disk early.
    if (this.#room.memory.take(this.#owner, bounds.spoolPieceBytes) !== null) return false;
    this.#blocks.push(new Uint8Array(bounds.spoolPieceBytes));
    this.#filled = 0;
    return true;
  }

  async #writeRest(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.length > 0) {
      await this.#flush();
      if (this.#over) return;
      const taken = this.#fill(rest);
      // Not even one block is to be had: the piece goes to the file as it is.
      if (taken === 0) {
        await this.#append(rest);
        this.#size += rest.length;
        return;
      }
      rest = rest.subarray(taken);
    }
  }

  /** Writes the blocks to the file, which is made when it is needed; one of them stays, empty. */
  async #flush(): Promise<void> {
    const blocks = this.#blocks;
    for (const [index, block] of blocks.entries()) {
      await this.#append(index === blocks.length - 1 ? block.subarray(0, this.#filled) : block);
    }
    if (this.#over || blocks.length === 0) return;
    this.#blocks = blocks.slice(0, 1);
    this.#room.memory.add(this.#owner, (1 - blocks.length) * bounds.spoolPieceBytes);
    this.#filled = 0;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    if (this.#over) return;
    const problem = this.#room.disk.take(this.#owner, bytes.length, 1, this.#written);
    if (problem !== null) throw problem === "all" ? noRoom() : shareHeld(problem);
    const position = this.#written;
    this.#written += bytes.length;
    if (this.#file === null) {
      const file = await SpoolFile.create(this.#path());
      if (this.#over) {
        file.close();
        return;
      }
      this.#file = file;
    }
    await this.#file.write(bytes, position);
  }
}

/** A body in memory, in blocks of bounds.spoolPieceBytes. */
function inMemory(blocks: Uint8Array[], size: number, giveBack: () => void): Spooled {
  const read: ReadPiece = (at, limit) => {
    const block = blocks[Math.floor(at / bounds.spoolPieceBytes)];
    if (block === undefined) throw discarded();
    const offset = at % bounds.spoolPieceBytes;
    // A copy: a stream's reader may take the memory of what it is given for itself.
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

/**
 * One file without a name, read and written in the runtime's own threads. It is closed once, after what was under way
 * when that was asked for has ended.
 */
class SpoolFile {
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

function discarded(): Error {
  return new Error("a spooled body was read after it had been let go of");
}

function diskFailure(error: Error): Failure {
  if (isFullDisk(error)) return noRoom(error);
  return new Failure("internal_error", "The gateway could not keep the body of the request.", { cause: error });
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
