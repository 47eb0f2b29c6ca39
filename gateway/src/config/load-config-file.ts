import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { ConfigFile } from "@sluice/contract/config-file";
import { bounds } from "#core/index.ts";
import { ConfigInvalid, EnvironmentInvalid, type Problem } from "./config-invalid.ts";

import type { Variables } from "./expand-variables.ts";
import type { ConfigCheck } from "./parse-config.ts";
import { withFiles } from "./variable-files.ts";

export type { ConfigCheck } from "./parse-config.ts";

export interface LoadedConfig {
  readonly file: string;
  readonly config: ConfigFile;
  /** SHA-256 of the file's bytes, hex: the same bytes mean the same file (variables may still have changed). */
  readonly digest: string;
  /** Settings that are valid but cannot work. */
  readonly warnings: readonly Problem[];
}

/**
 * Reads, expands and checks a config file (YAML or JSON). `checks` are further rules, such as which kinds of provider
 * exist; `warn` finds what is valid and cannot work. Throws ConfigInvalid with every problem, also when the file cannot be read.
 */
export async function loadConfigFile(
  file: string,
  variables: Variables,
  checks: readonly ConfigCheck[] = [],
  warn?: ConfigCheck,
): Promise<LoadedConfig> {
  const bytes = await readBytes(file);
  const text = decode(bytes, file);
  const all = await withNamedFiles(text, file, variables);
  // The parser and the schema are loaded with the first file: most commands, and a gateway without one, need neither.
  const { parseWithWarnings } = await import("./parse-config.ts");
  return {
    file,
    ...parseWithWarnings(text, file, all, checks, warn),
    digest: createHash("sha256").update(bytes).digest("hex"),
  };
}

/** `${NAME}` may also be what the file holds that `NAME_FILE` names. It is read again with every reading of the config file. */
async function withNamedFiles(text: string, file: string, variables: Variables): Promise<Variables> {
  const names = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name ?? "");
  try {
    return await withFiles(variables, names);
  } catch (thrown) {
    if (thrown instanceof EnvironmentInvalid)
      throw wholeFile(file, `names a variable whose file fails: ${thrown.message}`);
    throw thrown;
  }
}

const readMs = 10_000;

/** Bounded in size and time, whatever the path turns out to be. */
async function readBytes(file: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of createReadStream(file, { signal: AbortSignal.timeout(readMs) })) {
      if (!(piece instanceof Uint8Array)) continue;
      size += piece.length;
      if (size > bounds.configFileBytesMax) break;
      pieces.push(piece);
    }
  } catch (thrown) {
    throw wholeFile(file, unreadable(thrown));
  }
  if (size > bounds.configFileBytesMax) {
    throw wholeFile(file, `is larger than ${bounds.configFileBytesMax / 1024 / 1024} MiB`);
  }
  return Buffer.concat(pieces);
}

function unreadable(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "may not be read by this user";
  if (code === "EISDIR") return "is a directory";
  return `cannot be read (${code === "" ? "unknown cause" : code})`;
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw wholeFile(file, "is not UTF-8 text");
  }
}

function wholeFile(file: string, message: string): ConfigInvalid {
  return new ConfigInvalid(file, [{ file, line: 0, column: 0, path: "", message }], 1);
}
