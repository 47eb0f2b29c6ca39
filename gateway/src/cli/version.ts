import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { shortRevision } from "#core/index.ts";
import { isBuilt } from "#system/index.ts";
import { version } from "../../../package.json";

/** Of the installation, from the one place where it stands; a built program carries it. */
export { version } from "../../../package.json";

// Builds define both (scripts/built-program.mjs).
declare const builtRevision: string | undefined;
declare const builtDate: string | undefined;

/**
 * The commit that this program was built from: its hash, with `-dirty` where files had been changed. A program that runs from a
 * checkout has the hash that is checked out with `-checkout`: whether files have been changed since is not known. Else `unknown`.
 */
export function readRevision(): string {
  if (typeof builtRevision === "string") return builtRevision;
  return isBuilt ? unknown : checkedOut(join(import.meta.dir, "..", "..", ".."));
}

/** `0.1.0 (72c595dc1234, 2026-11-28)`, the date being that of the commit. */
export function versionLine(revision: string): string {
  const date = readDate();
  return `${version} (${[shortRevision(revision), ...(date === null ? [] : [date])].join(", ")})`;
}

export function versionFacts() {
  return { version, revision: readRevision(), date: readDate() };
}

function readDate(): string | null {
  return typeof builtDate === "string" && builtDate !== "" ? builtDate : null;
}

const unknown = "unknown";

/** Git itself is not run: it may not be there. A folder of another form than these is `unknown`. */
export function checkedOut(folder: string): string {
  try {
    const place = join(folder, ".git");
    if (!existsSync(place)) return unknown;
    // A linked worktree has a file that names its folder, and shares the branches of the main one.
    const own = statSync(place).isDirectory() ? place : resolve(folder, text(place).replace(/^gitdir: /, ""));
    const common = existsSync(join(own, "commondir")) ? resolve(own, text(join(own, "commondir"))) : own;
    const head = text(join(own, "HEAD"));
    const hash = head.startsWith("ref: ") ? branchHash(common, head.slice("ref: ".length)) : head;
    return /^[0-9a-f]{40,64}$/.test(hash) ? `${hash}-checkout` : unknown;
  } catch {
    // A file of it may not be read by this user.
    return unknown;
  }
}

function branchHash(folder: string, name: string): string {
  const loose = join(folder, name);
  if (existsSync(loose)) return text(loose);
  const packed = join(folder, "packed-refs");
  const lines = existsSync(packed) ? text(packed).split("\n") : [];
  return lines.find((line) => line.endsWith(` ${name}`))?.slice(0, -name.length - 1) ?? "";
}

function text(file: string): string {
  return readFileSync(file, "utf8").trim();
}
