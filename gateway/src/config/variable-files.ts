import { createReadStream } from "node:fs";
import { EnvironmentInvalid } from "./config-invalid.ts";
import type { Variables } from "./expand-variables.ts";

/**
 * For each unset variable of `names`, reads its value from the file that `<name>_FILE` names, the usual way to pass secrets in containers.
 * Removes one trailing line end. Throws `EnvironmentInvalid`.
 */
export async function withFiles(variables: Variables, names: Iterable<string>): Promise<Variables> {
  const read: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of new Set(names)) {
    const path = (own(variables, `${name}_FILE`) ?? "").trim();
    if (path === "") continue;
    if ((own(variables, name) ?? "") !== "") {
      problems.push(`${name}_FILE and ${name} are both set; unset one`);
      continue;
    }
    try {
      read[name] = await contentOf(path);
    } catch (thrown) {
      problems.push(`${name}_FILE: ${path} ${readProblem(thrown)}`);
    }
  }
  if (problems.length > 0) throw new EnvironmentInvalid(problems);
  return Object.keys(read).length === 0 ? variables : Object.freeze({ ...variables, ...read });
}

/** Four times the size of a bundle of all public certificate authorities. */
const secretBytesMax = 1024 * 1024;
const readMs = 10_000;

async function contentOf(path: string): Promise<string> {
  const bytes = await readBounded(path, secretBytesMax);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
}

/** Reads a file within limits of size and time. Throws `TooLarge` or the error of reading. */
export async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of createReadStream(path, { signal: AbortSignal.timeout(readMs) })) {
    size += (piece as Buffer).length;
    if (size > bytesMax) throw new TooLarge(`is larger than ${bytesMax / 1024 / 1024} MiB`);
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

class TooLarge extends Error {}

/** Describes an error of `readBounded`, such as "does not exist". */
export function readProblem(thrown: unknown): string {
  if (thrown instanceof TooLarge) return thrown.message;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return readProblems[code] ?? `cannot be read (${code === "" ? "unknown cause" : code})`;
}

const readProblems: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be read: permission denied",
  EPERM: "cannot be read: permission denied",
  EISDIR: "is a directory",
  ABORT_ERR: `was not read within ${readMs / 1_000} s`,
  ERR_ENCODING_INVALID_ENCODED_DATA: "is not UTF-8 text",
};

function own(variables: Variables, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** Variables with a secret or a whole file, without the API keys of vendors. */
export const secretNames = [
  "SLUICE_DATABASE_URL",
  "SLUICE_REDIS_URL",
  "SLUICE_MASTER_KEY",
  "SLUICE_ADMIN_PASSWORD",
  "SLUICE_METRICS_KEY",
  "SLUICE_SMTP_URL",
  "SLUICE_S3_ACCESS_KEY_ID",
  "SLUICE_S3_SECRET_ACCESS_KEY",
  "SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID",
  "SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY",
  "VAULT_TOKEN",
  "SLUICE_VAULT_SECRET_ID",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
  "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
  "SLUICE_CA",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "ALL_PROXY",
] as const;

/** The only place that reads `process.env`. */
export function processVariables(): Variables {
  return Object.freeze({ ...process.env });
}
