import { closeSync, fdatasync, ftruncateSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { unlessMissing } from "./files.ts";

/** File operations of the journal. Tests replace it with a failing disk. */
export interface JournalFiles {
  /** For writing only; an existing file is an error. */
  create(path: string): number;
  /** Returns the number of bytes written, possibly fewer than requested. */
  write(file: number, bytes: Buffer, from: number, length: number, position: number): number;
  truncate(file: number, length: number): void;
  /** Syncs the file's data without blocking the event loop. */
  sync(file: number): Promise<void>;
  /** Syncs the names in a directory. */
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

/** Oldest first; empty if the directory is missing. */
export function segmentNumbers(directory: string): readonly number[] {
  return numbersOf(directory, /^(\d{12})\.wal$/);
}

/** Greater than all segment numbers, including damaged ones that were put aside. */
export function nextSegmentNumber(directory: string): number {
  return (numbersOf(directory, /^(\d{12})\.wal(?:\.damaged)?$/).at(-1) ?? 0) + 1;
}

export function removeSegment(directory: string, segment: number): void {
  unlessMissing(() => unlinkSync(segmentPath(directory, segment)));
}

/** Keeps a segment for inspection, but not for recovery. */
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
