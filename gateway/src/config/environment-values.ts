import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import {
  type Egress,
  EgressProxyInvalid,
  type ExemptRule,
  isAddressRange,
  memoryBytesMin,
  parseEgressProxy,
  parseExemptions,
  type Secret,
} from "#core/index.ts";
import type { VariableReader } from "./variable-reader.ts";

export function readPort(reader: VariableReader): number {
  // Kubernetes gives every pod SLUICE_PORT=tcp://… when a Service is called sluice.
  if (reader.text("SLUICE_PORT")?.startsWith("tcp://") === true) {
    reader.refuse(
      "SLUICE_PORT",
      "is a URL that Kubernetes sets for a Service called sluice; " +
        "set it to a port number, or set enableServiceLinks to false in the pod",
    );
    return 8787;
  }
  return reader.integer("SLUICE_PORT", 0, 65_535) ?? 8787;
}

export function readAdminListener(reader: VariableReader, callsHost: string) {
  const port = reader.integer("SLUICE_ADMIN_PORT", 0, 65_535);
  const host = reader.host("SLUICE_ADMIN_HOST") ?? callsHost;
  const url = reader.url("SLUICE_ADMIN_URL", ["http", "https"]);
  refuseWithout(reader, "SLUICE_ADMIN_PORT", ["SLUICE_ADMIN_HOST", "SLUICE_ADMIN_URL"]);
  return port === null ? null : Object.freeze({ host, port, url });
}

/** `others` need `name`. */
function refuseWithout(reader: VariableReader, name: string, others: readonly string[]): void {
  if (reader.isSet(name)) return;
  for (const other of others) if (reader.isSet(other)) reader.refuse(other, `has no effect without ${name}`);
}

const adminPasswordLengthMin = 12;

export function readAdministrator(reader: VariableReader) {
  const email = reader.email("SLUICE_ADMIN_EMAIL");
  const password = reader.secret("SLUICE_ADMIN_PASSWORD", adminPasswordLengthMin);
  requireBoth(reader, "SLUICE_ADMIN_EMAIL", "SLUICE_ADMIN_PASSWORD");
  return email === null || password === null ? null : Object.freeze({ email, password });
}

function requireBoth(reader: VariableReader, one: string, other: string): void {
  requireWith(reader, one, other);
  requireWith(reader, other, one);
}

/** `others` must be set if `name` is. */
function requireWith(reader: VariableReader, name: string, ...others: readonly string[]): void {
  if (!reader.isSet(name)) return;
  for (const other of others) if (!reader.isSet(other)) reader.refuse(other, `must be set when ${name} is`);
}

export function readMail(reader: VariableReader) {
  const url = reader.secretUrl("SLUICE_SMTP_URL", ["smtp", "smtps"]);
  const from = reader.email("SLUICE_MAIL_FROM");
  if (url !== null) requireWith(reader, "SLUICE_SMTP_URL", "SLUICE_MAIL_FROM");
  if (url !== null && !hasReadableAccount(url)) {
    reader.refuse("SLUICE_SMTP_URL", "has a username or password with invalid percent-encoding; write % as %25");
  }
  return url === null || from === null ? null : Object.freeze({ url, from });
}

function hasReadableAccount(address: Secret): boolean {
  const { username, password } = new URL(address.reveal());
  try {
    for (const text of [username, password]) decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A bucket of an S3-compatible store. `endpoint` null: Amazon's endpoint of the region. `prefix`: for the names of all objects. */
export function readBucket(reader: VariableReader) {
  const name = reader.text("SLUICE_S3_BUCKET");
  const endpoint = reader.url("SLUICE_S3_ENDPOINT", ["http", "https"]);
  const accessKeyId = reader.text("SLUICE_S3_ACCESS_KEY_ID");
  requireWith(reader, "SLUICE_S3_BUCKET", "SLUICE_S3_ACCESS_KEY_ID", "SLUICE_S3_SECRET_ACCESS_KEY");
  if (name === null) return null;
  const secretAccessKey = reader.secret("SLUICE_S3_SECRET_ACCESS_KEY", 1);
  if (accessKeyId === null || secretAccessKey === null) return null;
  const region = reader.text("SLUICE_S3_REGION") ?? "us-east-1";
  const prefix = reader.text("SLUICE_S3_PREFIX") ?? "";
  return Object.freeze({ name, endpoint, region, prefix, accessKeyId, secretAccessKey });
}

export function readLedgerExportKeys(reader: VariableReader) {
  const [idName, secretName] = ["SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID", "SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY"];
  const accessKeyId = reader.text(idName);
  const secretAccessKey = reader.secret(secretName, 1);
  requireBoth(reader, idName, secretName);
  return accessKeyId === null || secretAccessKey === null ? null : Object.freeze({ accessKeyId, secretAccessKey });
}

export function readMemory(reader: VariableReader): number | null {
  const mebibytes = reader.integer("SLUICE_MEMORY_MB", memoryBytesMin / 1024 / 1024, 1024 * 1024);
  return mebibytes === null ? null : mebibytes * 1024 * 1024;
}

/** The variables for a provider type's API key and base URL. */
export interface ProviderVariables {
  readonly kind: string;
  readonly envKey: string;
  readonly envBaseUrl: string | null;
}

export function readProviderKeys(reader: VariableReader, providerVariables: readonly ProviderVariables[]) {
  const found = providerVariables.flatMap(({ kind, envKey, envBaseUrl }) => {
    // Compose files often have empty variables for vendors; they count as unset.
    if (reader.text(envKey) === null) return [];
    const apiKey = reader.secret(envKey, 1);
    const baseUrl = envBaseUrl === null ? null : reader.url(envBaseUrl, ["http", "https"]);
    return apiKey === null ? [] : [Object.freeze({ kind, envKey, apiKey, baseUrl })];
  });
  return Object.freeze(found);
}

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10"],
};

export function readTrustedProxies(reader: VariableReader): readonly string[] {
  const ranges: string[] = [];
  for (const word of (reader.text("SLUICE_TRUSTED_PROXIES") ?? "").split(/[\s,]+/)) {
    if (word === "") continue;
    const named = namedRanges[word.toLowerCase()];
    if (named !== undefined) ranges.push(...named);
    else if (isAddressRange(word)) ranges.push(word);
    else {
      reader.refuse(
        "SLUICE_TRUSTED_PROXIES",
        "must be a comma-separated list of IP addresses, ranges such as 10.0.0.0/8, `loopback` and `private`",
      );
      break;
    }
  }
  return Object.freeze(ranges);
}

export interface TlsFiles {
  /** PEM: the gateway's own certificate, then intermediate ones. */
  readonly certificate: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/** null: plain HTTP. */
export function readTls(reader: VariableReader): TlsFiles | null {
  const [certificateName, keyName] = ["SLUICE_TLS_CERT_FILE", "SLUICE_TLS_KEY_FILE"];
  const certificate = reader.text(certificateName);
  const key = reader.text(keyName);
  requireBoth(reader, certificateName, keyName);
  return certificate === null || key === null ? null : Object.freeze({ certificate, key });
}

/** Additional certificate authorities, one PEM text each. */
export function readAuthorities(reader: VariableReader): readonly string[] {
  const text = reader.text("SLUICE_CA");
  if (text === null) return Object.freeze([]);
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) {
    reader.refuse("SLUICE_CA", "has no certificate; it must be PEM with lines -----BEGIN CERTIFICATE-----");
  }
  const unread = found.findIndex((certificate) => !isCertificate(certificate));
  if (unread >= 0) {
    reader.refuse("SLUICE_CA", `has an invalid certificate: number ${unread + 1} of ${found.length}`);
  }
  return Object.freeze([...found]);
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

/** The outbound proxies, from the variables that curl, Go and Python use; lower case takes precedence. null: none. */
export function readEgress(reader: VariableReader): Egress | null {
  const all = readProxy(reader, "ALL_PROXY");
  const https = readProxy(reader, "HTTPS_PROXY") ?? all;
  const http = readProxy(reader, "HTTP_PROXY") ?? all;
  const name = nameSet(reader, "NO_PROXY");
  const { rules, unread } = parseExemptions(reader.text(name) ?? "");
  if (http === null && https === null) return null;
  if (unread.length > 0) {
    const shown = unread.slice(0, 3).map((word) => JSON.stringify(word.slice(0, 100)));
    reader.refuse(
      name,
      `must be a comma-separated list of host names, .suffixes, IP addresses, ranges or *, each with an optional :port; invalid: ${shown.join(", ")}`,
    );
  }
  return Object.freeze({ http, https, exempt: rules });
}

function readProxy(reader: VariableReader, upper: string) {
  const name = nameSet(reader, upper);
  const value = reader.text(name);
  if (value === null) return null;
  try {
    return parseEgressProxy(value);
  } catch (thrown) {
    if (!(thrown instanceof EgressProxyInvalid)) throw thrown;
    return reader.refuse(name, thrown.message);
  }
}

function nameSet(reader: VariableReader, upper: string): string {
  const lower = upper.toLowerCase();
  return reader.isSet(lower) ? lower : upper;
}

/** Private destinations that webhooks may use. `*` is refused. */
export function readWebhookExemptions(reader: VariableReader): readonly ExemptRule[] {
  const name = "SLUICE_WEBHOOK_ALLOW";
  const { rules, unread } = parseExemptions(reader.text(name) ?? "");
  const wrong = unread[0] ?? (rules.some(({ kind }) => kind === "all") ? "*" : undefined);
  if (wrong === undefined) return rules;
  const shown = JSON.stringify(wrong.slice(0, 100));
  reader.refuse(
    name,
    `must be a comma-separated list of host names, .suffixes, IP addresses or ranges, each with an optional :port; invalid: ${shown}`,
  );
  return Object.freeze([]);
}

const priceListHours = 24;
const priceListHoursMax = 24 * 31;

/** The source of new prices, and how they are applied. */
export interface PriceListSource {
  /** An https URL, or a file. */
  readonly from: string;
  readonly everyMs: number;
  /** `review`: an administrator applies changed prices. `apply`: prices that were not set by hand are changed automatically. */
  readonly changes: "review" | "apply";
  /** The expected SHA-256 of the data, hex. */
  readonly digest: string | null;
  /** Ed25519. The signature of the data is at the same address with `.sig` appended. */
  readonly publicKey: KeyObject | null;
}

export function readPriceListSource(reader: VariableReader): PriceListSource | null {
  const from = reader.text("SLUICE_PRICE_LIST_FROM");
  const hours = reader.integer("SLUICE_PRICE_LIST_HOURS", 1, priceListHoursMax) ?? priceListHours;
  const changes = reader.oneOf("SLUICE_PRICE_LIST_CHANGES", ["review", "apply"]) ?? "review";
  const digest = readDigest(reader);
  const publicKey = readKey(reader);
  const others = ["HOURS", "CHANGES", "DIGEST", "PUBLIC_KEY"].map((one) => `SLUICE_PRICE_LIST_${one}`);
  refuseWithout(reader, "SLUICE_PRICE_LIST_FROM", others);
  if (from === null) return null;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "https")
    return reader.refuse("SLUICE_PRICE_LIST_FROM", "must be an https URL or a file");
  if (changes === "apply" && digest === null && publicKey === null)
    return reader.refuse(
      "SLUICE_PRICE_LIST_CHANGES",
      "is apply, which needs SLUICE_PRICE_LIST_PUBLIC_KEY or SLUICE_PRICE_LIST_DIGEST to verify the prices",
    );
  return Object.freeze({ from, everyMs: hours * 3_600_000, changes, digest, publicKey });
}

function readDigest(reader: VariableReader): string | null {
  const text = reader.text("SLUICE_PRICE_LIST_DIGEST");
  if (text === null) return null;
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text)?.[1];
  return hex?.toLowerCase() ?? reader.refuse("SLUICE_PRICE_LIST_DIGEST", "must be sha256:<64 hexadecimal digits>");
}

function readKey(reader: VariableReader): KeyObject | null {
  const text = reader.text("SLUICE_PRICE_LIST_PUBLIC_KEY");
  if (text === null) return null;
  const bare = text.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  try {
    const key = createPublicKey({ key: Buffer.from(bare, "base64"), format: "der", type: "spki" });
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Refused below.
  }
  return reader.refuse(
    "SLUICE_PRICE_LIST_PUBLIC_KEY",
    "must be an Ed25519 public key in PEM, with or without the BEGIN and END lines",
  );
}
