import { createHash } from "node:crypto";
import type { ConfigFile } from "@sluice/contract/config-file";
import { bounds } from "#core/index.ts";
import { ConfigInvalid, EnvironmentInvalid, type Problem } from "./config-invalid.ts";
import type { Variables } from "./expand-variables.ts";
import type { ConfigCheck } from "./parse-config.ts";
import type { SettingIsShown } from "./redacted-source.ts";
import { readBounded, TooLarge, withFiles } from "./variable-files.ts";

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

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readBounded(file, bounds.configFileBytesMax);
  } catch (thrown) {
    const tooLarge = `is larger than ${bounds.configFileBytesMax / 1024 / 1024} MiB`;
    throw wholeFile(file, thrown instanceof TooLarge ? tooLarge : unreadable(thrown));
  }
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

/** What may be shown of a config file. Its parser is loaded when somebody looks. */
export async function redactedSource(text: string, settingIsShown: SettingIsShown): Promise<string | null> {
  const parser = await import("./redacted-source.ts");
  return parser.redactedSource(text, settingIsShown);
}
