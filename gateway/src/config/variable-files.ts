import { createReadStream } from "node:fs";
import { EnvironmentInvalid } from "./config-invalid.ts";
import type { Variables } from "./expand-variables.ts";

/**
 * The variables, and for each of `names` that is not set what the file holds that `<name>_FILE` names: orchestrators hand
 * secrets over as files. One line end behind the value is not part of it. Throws EnvironmentInvalid, never with a value.
 */
export async function withFiles(variables: Variables, names: Iterable<string>): Promise<Variables> {
  const read: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of new Set(names)) {
    const path = (own(variables, `${name}_FILE`) ?? "").trim();
    if (path === "") continue;
    if ((own(variables, name) ?? "") !== "") {
      problems.push(`${name}_FILE and ${name} are both set; leave one out`);
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

/** A bundle of every public authority is a quarter of that. */
const secretBytesMax = 1024 * 1024;
const readMs = 10_000;

async function contentOf(path: string): Promise<string> {
  const bytes = await readBounded(path, secretBytesMax);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
}

/** A file, bounded in size and time, whatever the path turns out to be. Throws TooLarge, and what reading throws. */
export async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of createReadStream(path, { signal: AbortSignal.timeout(readMs) })) {
    size += (piece as Buffer).length;
    if (size > bytesMax) throw new TooLarge();
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

export class TooLarge extends Error {}

function readProblem(thrown: unknown): string {
  if (thrown instanceof TooLarge) return `is larger than ${secretBytesMax / 1024} KiB`;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return readProblems[code] ?? `cannot be read (${code === "" ? "unknown cause" : code})`;
}

const readProblems: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
  EISDIR: "is a directory",
  ABORT_ERR: `was not read within ${readMs / 1_000} s`,
  ERR_ENCODING_INVALID_ENCODED_DATA: "is not UTF-8 text",
};

function own(variables: Variables, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** Variables that hold a secret, an address that may hold one, or a whole file. Keys of vendors are beside them. */
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
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
  "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
  "SLUICE_CA",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "ALL_PROXY",
] as const;

/** The environment of this process as it is now. The one place that reads it. */
export function processVariables(): Variables {
  return Object.freeze({ ...process.env });
}
