import { bounds } from "#core/index.ts";
import { type JournalFiles, segmentPath } from "../disk/journal-files.ts";

/**
 * Writes to the current segment and begins the next one when it is full. `end` is where the whole records end: what a
 * failed write left behind it is cut away, at the latest before the next write, so a tear is never in the middle.
 */
export class JournalSegment {
  readonly #directory: string;
  readonly #files: JournalFiles;
  readonly #retire: (file: number) => void;
  readonly #segmentBytes: number;
  #file: number;
  #number: number;
  #end = 0;
  #torn = false;
  #problem: unknown = null;
  #rotateAt: number;

  /** `retire` is handed each full segment's file, still open, to sync and close. */
  constructor(options: {
    readonly directory: string;
    readonly files: JournalFiles;
    readonly firstSegment: number;
    readonly segmentBytes: number;
    readonly retire: (file: number) => void;
  }) {
    this.#directory = options.directory;
    this.#files = options.files;
    this.#retire = options.retire;
    this.#segmentBytes = options.segmentBytes;
    this.#rotateAt = options.segmentBytes;
    this.#number = options.firstSegment;
    this.#file = options.files.create(segmentPath(this.#directory, this.#number));
  }

  get file(): number {
    return this.#file;
  }

  get number(): number {
    return this.#number;
  }

  get end(): number {
    return this.#end;
  }

  get problem(): unknown {
    return this.#problem;
  }

  /**
   * Writes as many whole records as the disk takes and says how many bytes that were; fewer than `length` means that
   * it refused, and `problem` why.
   */
  write(bytes: Buffer, length: number): number {
    let done = 0;
    try {
      if (this.#torn) this.#cut();
      if (this.#end >= this.#rotateAt) this.#rotate();
      while (done < length) {
        const taken = this.#files.write(this.#file, bytes, done, length - done, this.#end + done);
        if (taken <= 0) throw new Error("The disk took no bytes.");
        done += taken;
      }
    } catch (error) {
      this.#problem = error;
      const whole = done === 0 ? 0 : bytes.lastIndexOf(lineFeed, done - 1) + 1;
      this.#end += whole;
      this.#torn = true;
      this.#tryCut();
      return whole;
    }
    this.#end += length;
    return length;
  }

  /** Tries the disk with bytes that are taken back at once. They hold no line feed: a reader sees a torn end. */
  hasRoom(): boolean {
    if (this.write(probeBytes, probeBytes.length) < probeBytes.length) return false;
    // Also where the write began another segment.
    this.#end -= probeBytes.length;
    this.#torn = true;
    this.#tryCut();
    return !this.#torn;
  }

  #cut(): void {
    this.#files.truncate(this.#file, this.#end);
    this.#torn = false;
  }

  #tryCut(): void {
    try {
      this.#cut();
    } catch {
      // Still torn: the next write cuts first, and a reader passes over a torn end.
    }
  }

  #rotate(): void {
    let file: number;
    try {
      file = this.#files.create(segmentPath(this.#directory, this.#number + 1));
    } catch {
      // No room for another file: go on in this one and try again a little later.
      this.#rotateAt = this.#end + bounds.journalRecordBytesMax;
      return;
    }
    const full = this.#file;
    this.#file = file;
    this.#number += 1;
    this.#end = 0;
    this.#rotateAt = this.#segmentBytes;
    this.#retire(full);
  }
}

const lineFeed = 0x0a;
const probeBytes = Buffer.alloc(bounds.journalBufferBytes);
