import { bounds, type MemoryOwner } from "#core/index.ts";
import type { Spooled, SpoolWriter } from "#ports/index.ts";
import { discarded, SpoolFile } from "./spool-file.ts";
import type { SpoolRoom } from "./spool-room.ts";
import { SpooledFile, SpooledMemory } from "./spooled.ts";

/** What one body keeps in memory. */
export const spoolMemoryBytesMax = 1024 * 1024;

/**
 * Takes a body piece by piece. Bytes are copied into blocks of one size, so that a body that comes in crumbs costs no
 * more than another. While the blocks fit into memory they stay there; then all of them go to a file, and one block
 * gathers what is written next.
 */
export class FileSpoolWriter implements SpoolWriter {
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
    if (this.#file !== null) {
      this.#room.giveMemory(this.#owner, blocks.length * bounds.spoolPieceBytes);
      return new SpooledFile(this.#file, this.#size, () => this.#room.giveDisk(this.#owner, this.#size));
    }
    const giveBack = (): void => this.#room.giveMemory(this.#owner, blocks.length * bounds.spoolPieceBytes);
    return new SpooledMemory(blocks, this.#size, giveBack);
  }

  discard(): void {
    if (this.#over) return;
    this.#over = true;
    this.#room.giveMemory(this.#owner, this.#blocks.length * bounds.spoolPieceBytes);
    this.#room.giveDisk(this.#owner, this.#written);
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
    if (this.#blocks.length >= blocksMax || !this.#room.takeMemory(this.#owner, bounds.spoolPieceBytes)) return false;
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
    this.#room.giveMemory(this.#owner, (blocks.length - 1) * bounds.spoolPieceBytes);
    this.#filled = 0;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    if (this.#over) return;
    this.#room.takeDisk(this.#owner, bytes.length, this.#written);
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
