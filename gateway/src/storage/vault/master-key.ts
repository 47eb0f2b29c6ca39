import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DataUnusable } from "../disk/data-directory.ts";
import { ignoreExisting, syncPath, unlessMissing, writeLine } from "../disk/files.ts";

/** Minimum length, against guessable words. */
const givenCharactersMin = 32;
const fileBytes = 32;

/**
 * The configured master key, else that of `<dataDir>/master.key`, which the first start creates (32 random bytes, base64, readable by its
 * owner only). Concurrent starts get the same. `mayMake` is false if the database exists, because a new key could not open it.
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

/** Throws if it is too short. */
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
 * Replaces the key file atomically. Returns the path under which the previous key is kept for old backups; null if `keep` is false.
 * `now`: Unix milliseconds.
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

/** Links the key file to a unique name. */
function linkKept(path: string, now: number): string {
  for (let at = now; ; at++) {
    const kept = `${path}.until-${compactTime(at)}`;
    if (existsSync(kept)) continue;
    linkSync(path, kept);
    return kept;
  }
}

/** Newest first. */
export function keptKeyFiles(dataDir: string): readonly string[] {
  if (!existsSync(dataDir)) return [];
  const names = readdirSync(dataDir).filter((name) => /^master\.key\.until-\d{8}T\d{9}Z$/.test(name));
  return names
    .sort()
    .reverse()
    .map((name) => join(dataDir, name));
}

export function keptKey(path: string): Uint8Array {
  const bytes = readKeyFile(path);
  if (bytes === null) throw new DataUnusable(`There is no key file ${path}.`);
  return bytes;
}

/** For file names: 20261124T220500123Z. */
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
    // A link appears complete, and never replaces another process's key.
    ignoreExisting(() => linkSync(draft, path));
  } finally {
    rmSync(draft, { force: true });
  }
  syncPath(dataDir);
  const bytes = readKeyFile(path);
  if (bytes === null) throw new Error(`The key file ${path} went away while it was made.`);
  return bytes;
}

/** A synced file that will become `path`. */
function writeDraft(path: string, key: Uint8Array): string {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeLine(draft, Buffer.from(key).toString("base64"), "wx");
  return draft;
}
