import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DataUnusable } from "../disk/data-directory.ts";
import { syncPath, unlessMissing, unlessThere, writeLine } from "../disk/files.ts";

/** Characters a given master key must have, so that nobody guards an installation with a word. */
const givenCharactersMin = 32;
const fileBytes = 32;

/**
 * The bytes every other key is derived from: the given value, else those of `<dataDir>/master.key`, which the first
 * start makes (32 random bytes, base64, readable by the owner only). Two processes that start together get the same.
 * `mayMake` is false where a database was made with a key: a new one could open nothing in it.
 */
export function masterKey(given: string | null, dataDir: string, mayMake = true): Uint8Array {
  if (given !== null) return givenMasterKey(given);
  const path = keyFileIn(dataDir);
  const found = readKeyFile(path);
  if (found !== null) return found;
  if (mayMake) return makeKeyFile(path, dataDir);
  throw new DataUnusable(
    `${path} is missing, and the database was made with it: without it no API key is known and no provider secret can ` +
      "be opened. Bring it back from a backup, or set SLUICE_MASTER_KEY.",
  );
}

/** A given master key as bytes. Throws when it is too short. */
export function givenMasterKey(given: string): Uint8Array {
  if (given.length < givenCharactersMin) {
    throw new Error(`The master key is too short: give at least ${givenCharactersMin} random characters.`);
  }
  return Buffer.from(given, "utf8");
}

/** 32 random bytes, for a key file. */
export function newMasterKey(): Uint8Array {
  return randomBytes(fileBytes);
}

/**
 * From the moment in which it appears, whole, the key file holds this one. The one before is kept beside it under the name that is given
 * back, for backups of its time; null: `keep` is not wanted. `now` is Unix milliseconds.
 */
export function replaceKeyFile(
  dataDir: string,
  key: Uint8Array,
  { now, keep = true }: { readonly now: number; readonly keep?: boolean },
): string | null {
  const path = keyFileIn(dataDir);
  const draft = writeDraft(path, key);
  let kept: string | null = null;
  try {
    if (keep) kept = linkKept(path, now);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncPath(dataDir);
  return kept;
}

/** Keeps the key file under a name of its own, also where two keys are replaced at one time. */
function linkKept(path: string, now: number): string {
  for (let at = now; ; at++) {
    const kept = `${path}.until-${compactTime(at)}`;
    if (existsSync(kept)) continue;
    linkSync(path, kept);
    return kept;
  }
}

/** Earlier master keys that were kept, newest first. */
export function keptKeyFiles(dataDir: string): readonly string[] {
  if (!existsSync(dataDir)) return [];
  const names = readdirSync(dataDir).filter((name) => /^master\.key\.until-\d{8}T\d{9}Z$/.test(name));
  return names
    .sort()
    .reverse()
    .map((name) => join(dataDir, name));
}

/** The bytes of a kept key file. */
export function keptKey(path: string): Uint8Array {
  const bytes = readKeyFile(path);
  if (bytes === null) throw new DataUnusable(`There is no key file ${path}.`);
  return bytes;
}

/** For names of files: 20261124T220500123Z. */
function compactTime(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:.]/g, "");
}

const keyFileIn = (dataDir: string) => join(dataDir, "master.key");

function readKeyFile(path: string): Uint8Array | null {
  const text = unlessMissing(() => readFileSync(path, "utf8"));
  if (text === null) return null;
  const bytes = Buffer.from(text.trim(), "base64");
  if (bytes.length !== fileBytes) throw new Error(`The key file ${path} is damaged: it must hold 32 bytes in base64.`);
  return bytes;
}

function makeKeyFile(path: string, dataDir: string): Uint8Array {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = writeDraft(path, newMasterKey());
  try {
    // A link appears whole or not at all, and never replaces the key another process was first to make.
    unlessThere(() => linkSync(draft, path));
  } finally {
    rmSync(draft, { force: true });
  }
  syncPath(dataDir);
  const bytes = readKeyFile(path);
  if (bytes === null) throw new Error(`The key file ${path} went away while it was made.`);
  return bytes;
}

/** The file that is to become `path`, on the disk and readable by its owner only. */
function writeDraft(path: string, key: Uint8Array): string {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeLine(draft, Buffer.from(key).toString("base64"), "wx");
  return draft;
}
