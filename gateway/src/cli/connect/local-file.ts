import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { CommandFailed } from "../command-failed.ts";

/** A program's own file: what stands in it, and what stood in it before Sluice. */
export interface LocalFile {
  /** Where it is; behind a link what the link leads to, so that the link stays. */
  readonly path: string;
  /** null: there is none yet. */
  readonly text: string | null;
  readonly backupPath: string;
  /** null: none was made. */
  readonly backup: string | null;
}

const bytesMax = 1024 * 1024;

/** Throws CommandFailed where it cannot be read, or could not be written. */
export function openLocalFile(named: string): LocalFile {
  const path = target(named);
  const backupPath = `${path}.before-sluice`;
  const text = existsSync(path) ? readText(path) : null;
  if (text !== null && (statSync(path).mode & 0o222) === 0) {
    throw new CommandFailed(`${path} is read-only; nothing is changed`);
  }
  return { path, text, backupPath, backup: existsSync(backupPath) ? readText(backupPath) : null };
}

/** As a whole or not at all. `text` null: there is no such file any more. */
export function writeLocalFile({ path, text: before }: LocalFile, text: string | null): void {
  if (text === null) {
    attempt(path, () => rmSync(path, { force: true }));
    return;
  }
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  attempt(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(made, text, { mode: 0o600, flag: "wx" });
      if (before !== null) chmodSync(made, statSync(path).mode & 0o777);
      renameSync(made, path);
    } finally {
      rmSync(made, { force: true });
    }
  });
}

/** Keeps what stood there before; one that was kept already and is another's stays under another name. */
export function keepBackup({ path, text, backup, backupPath }: LocalFile): string | null {
  if (text === null || text === backup) return backup === null ? null : backupPath;
  attempt(backupPath, () => {
    if (backup !== null) renameSync(backupPath, `${backupPath}.${Date.now()}`);
    writeFileSync(backupPath, text, { mode: statSync(path).mode & 0o777, flag: "wx" });
  });
  return backupPath;
}

export function removeBackup({ backupPath }: LocalFile): void {
  attempt(backupPath, () => rmSync(backupPath, { force: true }));
}

function target(named: string): string {
  try {
    return realpathSync(named);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" && lstatSync(named, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw new CommandFailed(`${named} is a link that leads to no file; nothing is changed`);
    }
    if (code === "ENOENT") return named;
    throw new CommandFailed(`${named} cannot be read: ${code}`);
  }
}

function readText(path: string): string {
  try {
    if (statSync(path).size > bytesMax) throw new CommandFailed(`${path} is larger than 1 MiB; nothing is changed`);
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof CommandFailed) throw thrown;
    throw new CommandFailed(`${path} cannot be read: ${(thrown as NodeJS.ErrnoException).code}`);
  }
}

function attempt(path: string, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    throw new CommandFailed(`${path} cannot be written: ${(thrown as NodeJS.ErrnoException).code}`);
  }
}
