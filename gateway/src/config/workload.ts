import type { CloudName, Workload } from "#ports/index.ts";
import type { Variables } from "./expand-variables.ts";
import { readBounded, readProblem } from "./variable-files.ts";
import type { VariableReader } from "./variable-reader.ts";

const clouds: readonly CloudName[] = ["aws", "azure", "google"];
const schemes = /^(?:file:\/\/\/|env:\/\/|vault:\/\/|aws-sm:\/\/|gcp-sm:\/\/|azure-kv:\/\/|https?:\/\/[^/?#]+\/)/;
const hostPattern = /^(?:\*\.)?[\w.-]+(?::\d{1,5})?$|^\[[0-9a-f:]+\](?::\d{1,5})?$/i;

/**
 * The machine's identity and secrets, of which providers may use what three variables allow. By default nothing: who may
 * create a provider could otherwise send the machine's credentials to an address of theirs.
 */
export function readWorkload(reader: VariableReader, variables: Variables): Workload {
  const allowedClouds = new Set(words(reader, "SLUICE_CLOUD_IDENTITY"));
  const wrong = [...allowedClouds].find((word) => !clouds.some((cloud) => cloud === word));
  if (wrong !== undefined) {
    reader.refuse("SLUICE_CLOUD_IDENTITY", `must be a comma-separated list of ${clouds.join(", ")}`);
  }
  const hosts = words(reader, "SLUICE_CLOUD_IDENTITY_HOSTS").map((host) => host.toLowerCase());
  if (!hosts.every((host) => hostPattern.test(host))) {
    reader.refuse("SLUICE_CLOUD_IDENTITY_HOSTS", "must be a comma-separated list of hosts, such as *.azure-api.net");
  }
  const references = words(reader, "SLUICE_SECRET_REFERENCES");
  if (!references.every((prefix) => schemes.test(prefix))) {
    reader.refuse(
      "SLUICE_SECRET_REFERENCES",
      "must be a comma-separated list of prefixes of references, such as file:///run/secrets/ or vault://kv/sluice/",
    );
  }
  return Object.freeze({
    variable: (name: string) => (Object.hasOwn(variables, name) ? variables[name]?.trim() || null : null),
    readFile,
    allowsCloud: (cloud: CloudName) => allowedClouds.has(cloud),
    allowsHost: (host: string) => hosts.some((pattern) => isHost(pattern, host.toLowerCase())),
    allowsReference: (reference: string) =>
      isPlain(reference) && references.some((prefix) => isBelow(prefix, reference)),
  });
}

function words(reader: VariableReader, name: string): readonly string[] {
  return (reader.text(name) ?? "").split(/[\s,]+/).filter((word) => word !== "");
}

function isHost(pattern: string, host: string): boolean {
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** A path that climbs out of a prefix is never allowed. */
function isPlain(reference: string): boolean {
  return !/(?:^|[/\\])\.{1,2}(?:[/\\?#]|$)|%2e|%2f|%5c|\0/i.test(reference);
}

/** A prefix without a separator at its end is one reference, or a folder: `vault://kv/ai` does not allow `vault://kv/ailing`. */
function isBelow(prefix: string, reference: string): boolean {
  if (!reference.startsWith(prefix)) return false;
  return (
    /[/_#:*-]$/.test(prefix) || reference.length === prefix.length || /[/#?]/.test(reference.charAt(prefix.length))
  );
}

async function readFile(path: string): Promise<string> {
  try {
    const bytes = await readBounded(path, fileBytesMax);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new Error(readProblem(thrown), { cause: thrown });
  }
}

const fileBytesMax = 1024 * 1024;
