import { closeSync, fdatasync, ftruncateSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { unlessMissing } from "./files.ts";

/** The few calls the journal makes to write. Tests put a disk that refuses in this place. */
export interface JournalFiles {
  /** A new file, for writing only; an existing one is an error. */
  create(path: string): number;
  /** How many bytes were taken, possibly fewer than asked. */
  write(file: number, bytes: Buffer, from: number, length: number, position: number): number;
  truncate(file: number, length: number): void;
  /** Resolves when the file's data is on the disk. Must not block the loop. */
  sync(file: number): Promise<void>;
  /** Resolves when the names in a directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  close(file: number): void;
}

export const diskFiles: JournalFiles = Object.freeze({
  create: (path: string) => openSync(path, "wx", 0o600),
  write: (file: number, bytes: Buffer, from: number, length: number, position: number) =>
    writeSync(file, bytes, from, length, position),
  truncate: (file: number, length: number) => ftruncateSync(file, length),
  sync: syncData,
  syncDirectory: async (path: string) => {
    const directory = openSync(path, "r");
    try {
      await syncData(directory);
    } finally {
      closeSync(directory);
    }
  },
  close: (file: number) => closeSync(file),
});

export function segmentPath(directory: string, segment: number): string {
  return join(directory, `${String(segment).padStart(12, "0")}.wal`);
}

/** Numbers of the segments in a directory, oldest first; none when it is missing. */
export function segmentNumbers(directory: string): readonly number[] {
  return numbersOf(directory, /^(\d{12})\.wal$/);
}

/** A number that no segment has had, also none that was put aside for its damage. */
export function nextSegmentNumber(directory: string): number {
  return (numbersOf(directory, /^(\d{12})\.wal(?:\.damaged)?$/).at(-1) ?? 0) + 1;
}

/** Gone already is as good as removed. */
export function removeSegment(directory: string, segment: number): void {
  unlessMissing(() => unlinkSync(segmentPath(directory, segment)));
}

/** Takes a segment out of the reading order but keeps it for whoever wants to look at it. */
export function putAside(directory: string, segment: number): void {
  const path = segmentPath(directory, segment);
  unlessMissing(() => renameSync(path, `${path}.damaged`));
}

function syncData(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });
}

function numbersOf(directory: string, pattern: RegExp): number[] {
  const numbers: number[] = [];
  for (const name of unlessMissing(() => readdirSync(directory)) ?? []) {
    const digits = pattern.exec(name)?.[1];
    if (digits !== undefined) numbers.push(Number(digits));
  }
  return numbers.sort((a, b) => a - b);
}
