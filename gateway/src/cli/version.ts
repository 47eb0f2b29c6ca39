import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { shortRevision } from "#core/index.ts";
import { isBuilt } from "#system/index.ts";
import { version } from "../../../package.json";

/** Builds include it. */
export { version } from "../../../package.json";

// Defined by builds (scripts/built-program.mjs).
declare const builtRevision: string | undefined;
declare const builtDate: string | undefined;

/**
 * The commit of this program: the hash, with `-dirty` if files were changed, or `-checkout` if it runs from a checkout, where changes
 * are not detected. `unknown` otherwise.
 */
export function readRevision(): string {
  if (typeof builtRevision === "string") return builtRevision;
  return isBuilt ? unknown : checkedOut(join(import.meta.dir, "..", "..", ".."));
}

/** `0.1.0 (72c595dc1234, 2026-11-28)` with the date of the commit. */
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

/** Reads the files of Git, because Git may not be installed. */
export function checkedOut(folder: string): string {
  try {
    const place = join(folder, ".git");
    if (!existsSync(place)) return unknown;
    // A linked worktree has a file with the path of its folder, and shares branches with the main one.
    const own = statSync(place).isDirectory() ? place : resolve(folder, text(place).replace(/^gitdir: /, ""));
    const common = existsSync(join(own, "commondir")) ? resolve(own, text(join(own, "commondir"))) : own;
    const head = text(join(own, "HEAD"));
    const hash = head.startsWith("ref: ") ? branchHash(common, head.slice("ref: ".length)) : head;
    return /^[0-9a-f]{40,64}$/.test(hash) ? `${hash}-checkout` : unknown;
  } catch {
    // The files may not be readable.
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
