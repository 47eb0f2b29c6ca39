import { createHash } from "node:crypto";
import type { ConfigFile } from "@sluice/contract/config-file";
import { bounds } from "#core/index.ts";
import { ConfigInvalid, EnvironmentInvalid, type Problem } from "./config-invalid.ts";
import type { Variables } from "./expand-variables.ts";
import type { ParsedChange } from "./parse-change.ts";
import type { ConfigCheck } from "./parse-config.ts";
import type { SettingIsShown } from "./redacted-source.ts";
import { readBounded, readProblem, withFiles } from "./variable-files.ts";

export interface LoadedConfig {
  readonly file: string;
  readonly config: ConfigFile;
  /** SHA-256 of the file, hex. Does not cover the values of its variables. */
  readonly digest: string;
  /** Valid settings that have no effect. */
  readonly warnings: readonly Problem[];
}

/**
 * Reads, expands and checks a config file (YAML or JSON). `checks`: further rules. `warn`: finds valid settings that have no effect.
 * Throws `ConfigInvalid` with all problems, also if the file cannot be read.
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
  // Loaded on demand: most commands, and a gateway without a config file, do not need the parser and the schema.
  const { parseWithWarnings } = await import("./parse-config.ts");
  return {
    file,
    ...parseWithWarnings(text, file, all, checks, warn),
    digest: createHash("sha256").update(bytes).digest("hex"),
  };
}

/** Reads a change of the configuration, which has no variables. Throws `ConfigInvalid` with all problems. */
export async function loadChange(file: string): Promise<ParsedChange> {
  const text = decode(await readBytes(file), file);
  const { parseChange } = await import("./parse-change.ts");
  return parseChange(text, file);
}

/** Adds variables from the files that `NAME_FILE` names. */
async function withNamedFiles(text: string, file: string, variables: Variables): Promise<Variables> {
  const names = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name ?? "");
  try {
    return await withFiles(variables, names);
  } catch (thrown) {
    if (thrown instanceof EnvironmentInvalid) throw wholeFile(file, `uses a variable from a file: ${thrown.message}`);
    throw thrown;
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readBounded(file, bounds.configFileBytesMax);
  } catch (thrown) {
    throw wholeFile(file, readProblem(thrown));
  }
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

/** The text of a config file without secrets; null if it cannot be parsed. */
export async function redactedSource(text: string, settingIsShown: SettingIsShown): Promise<string | null> {
  const parser = await import("./redacted-source.ts");
  return parser.redactedSource(text, settingIsShown);
}
