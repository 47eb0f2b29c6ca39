import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

export const root = join(import.meta.dir, "..", "..", "..");
export const deploy = join(root, "deploy");

export function textOf(name: string): string {
  return readFileSync(join(deploy, name), "utf8");
}

/** The documents of a YAML file, with aliases and merges resolved. An invalid file fails the test. */
// biome-ignore lint/suspicious/noExplicitAny: files of many formats, read by tests only.
export function documentsOf(name: string): any[] {
  return parseAllDocuments(textOf(name), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${name}: ${document.errors[0]?.message}`);
    return document.toJS();
  });
}

/** Every file below deploy/, by its relative path. */
export function deployFiles(): readonly string[] {
  return readdirSync(deploy, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(deploy.length + 1))
    .filter((name) => name !== ".env" && !name.startsWith("secrets/"))
    .sort();
}

/** `160s`, `5m`, `2m30s` in milliseconds. */
export function durationMs(text: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  return [...text.matchAll(/(\d+)(ms|s|m|h)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? Number.NaN),
    0,
  );
}

/** The environment variables that the image sets. */
export function imageVariables(): Record<string, string> {
  const lines = /^ENV ((?:.*\\\n)*.*)$/m.exec(textOf("Containerfile"))?.[1] ?? "";
  return Object.fromEntries([...lines.matchAll(/([A-Za-z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]));
}
