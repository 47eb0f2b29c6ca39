import { bounds, type Egress, type ExemptRule, isAddressRange, memoryBytesMin, type Secret } from "#core/index.ts";
import type { LogLevel, OtlpSettings } from "#ports/index.ts";
import { didYouMean } from "./closest-name.ts";
import { EnvironmentInvalid } from "./config-invalid.ts";
import type { Variables } from "./expand-variables.ts";
import { readOtlp } from "./otlp-settings.ts";
import { readAuthorities, readEgress, readTls, readWebhookPlaces, type TlsFiles } from "./read-network.ts";
import { type PriceListSource, readPriceListSource } from "./read-price-list-source.ts";
import { secretNames } from "./variable-files.ts";
import { VariableReader } from "./variable-reader.ts";

/** What may be asked for of workspaces with labels of their own. */
const metricsWorkspacesMax = 5_000;
const workersMax = 256;

type LogFormat = "pretty" | "json";

/** Everything the environment says, defaults filled in. Secrets, and addresses that may hold one, are Secret. */
export interface Environment {
  readonly host: string;
  readonly port: number;
  /** A listener of its own for the console, the admin API, metrics and documents; null: all on one. */
  readonly admin: { readonly host: string; readonly port: number; readonly url: string | null } | null;
  /** The ports speak TLS with what is in these files; null: plain HTTP. */
  readonly tls: TlsFiles | null;
  readonly dataDir: string;
  readonly databaseUrl: Secret | null;
  readonly redisUrl: Secret | null;
  readonly configFile: string | null;
  /** Large removals of a config file are applied without a confirmation. */
  readonly configPrune: boolean;
  readonly workers: number;
  /** How long `/readyz` fails before calls are refused, after SIGTERM. */
  readonly drainGraceMs: number;
  /** null: the key file in the data directory. */
  readonly masterKey: Secret | null;
  readonly administrator: { readonly email: string; readonly password: Secret } | null;
  /** Without a slash at the end. */
  readonly publicUrl: string | null;
  /** Addresses and ranges of proxies whose `Forwarded` and `X-Forwarded-For` are believed. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: LogLevel;
  /** null: pretty on a terminal, else json. */
  readonly logFormat: LogFormat | null;
  /** What `/metrics` is asked for with; null: anybody who reaches its port reads it. */
  readonly metricsKey: Secret | null;
  /** Which requests have a line of their own in the log. */
  readonly accessLog: "all" | "errors" | "off";
  /** Workspaces with metrics of their own; 0: none. */
  readonly metricsWorkspaces: number;
  /** Where telemetry is sent; null: nowhere. */
  readonly otlp: OtlpSettings | null;
  /** What becomes of the telemetry that coding agents send: nothing, or it goes to the same place. */
  readonly agentTelemetry: "drop" | "relay";
  /** Certificate authorities (PEM) that are believed beside the usual ones. */
  readonly authorities: readonly string[];
  /** Private places that webhooks may go to. */
  readonly webhookPlaces: readonly ExemptRule[];
  /** The proxies that calls to other machines leave by; null: none. */
  readonly egress: Egress | null;
  /** Where newer prices are looked for; null: nowhere. */
  readonly priceList: PriceListSource | null;
  /** The mail server for invitations and notices; null: none. */
  readonly mail: { readonly url: Secret; readonly from: string } | null;
  /** Where assets and copied results are kept; null: on the disk, in the data directory. */
  readonly bucket: Bucket | null;
  /** Without a bucket: whether all processes of the installation must use one folder, or each may have its own. */
  readonly blobs: "shared" | "separate";
  /** What the gateway may use of the machine's memory, all workers together; null: what its cgroup allows. */
  readonly memoryBytes: number | null;
  /** Connections of callers at most, all workers together, and of one address to a worker; null: by memory and descriptors, and by share. */
  readonly connectionsMax: number | null;
  readonly connectionsPerAddressMax: number | null;
  /** For the bucket that the ledger is copied to; null: none are named. */
  readonly ledgerExportKeys: BucketKeys | null;
  readonly providerKeys: readonly FoundProviderKey[];
  /** Variables that look mistyped, in words. */
  readonly warnings: readonly string[];
}

interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

/** A bucket of an S3-compatible store. */
interface Bucket {
  readonly name: string;
  /** null: Amazon's own for the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** In front of every object's name; may be empty. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

/** Which variables hold the key and the base URL of one kind of provider. */
export interface ProviderVariables {
  readonly kind: string;
  readonly envKey: string;
  readonly envBaseUrl: string | null;
}

interface FoundProviderKey {
  readonly kind: string;
  readonly envKey: string;
  readonly apiKey: Secret;
  readonly baseUrl: string | null;
}

const relayedNowhere = "SLUICE_AGENT_TELEMETRY is relay, and no collector is named: the telemetry of agents is dropped";

/** Reads the variables that docs/configuration.md lists. Throws EnvironmentInvalid. An empty variable counts as not set, except for secrets. */
export function readEnvironment(
  variables: Variables,
  providerVariables: readonly ProviderVariables[] = [],
): Environment {
  const reader = new VariableReader(variables);
  const host = reader.host("SLUICE_HOST") ?? "127.0.0.1";
  const tls = readTls(reader);
  const otlp = readOtlp(variables, reader.url("SLUICE_OTLP_ENDPOINT", ["http", "https"]));
  const agentTelemetry = reader.oneOf("SLUICE_AGENT_TELEMETRY", ["drop", "relay"]) ?? "drop";
  const nowhere = agentTelemetry === "relay" && otlp.settings === null ? [relayedNowhere] : [];
  const environment: Environment = {
    host,
    port: readPort(reader),
    admin: readAdminListener(reader, host),
    tls,
    dataDir: reader.text("SLUICE_DATA_DIR") ?? "./data",
    databaseUrl: reader.secretUrl("SLUICE_DATABASE_URL", ["postgres", "postgresql"]),
    redisUrl: reader.secretUrl("SLUICE_REDIS_URL", ["redis", "rediss"]),
    configFile: reader.text("SLUICE_CONFIG"),
    configPrune: reader.oneOf("SLUICE_CONFIG_PRUNE", ["refuse", "allow"]) === "allow",
    workers: reader.integer("SLUICE_WORKERS", 1, workersMax) ?? 1,
    drainGraceMs: reader.integer("SLUICE_DRAIN_GRACE_MS", 0, bounds.drainGraceMsMax) ?? bounds.drainGraceMs,
    masterKey: reader.secret("SLUICE_MASTER_KEY", 32),
    metricsKey: reader.secret("SLUICE_METRICS_KEY", 16),
    administrator: readAdministrator(reader),
    publicUrl: reader.url("SLUICE_PUBLIC_URL", ["http", "https"]),
    trustedProxies: readTrustedProxies(reader),
    logLevel: reader.oneOf("SLUICE_LOG_LEVEL", logLevels) ?? "info",
    logFormat: reader.oneOf("SLUICE_LOG_FORMAT", logFormats),
    accessLog: reader.oneOf("SLUICE_ACCESS_LOG", accessLogModes) ?? "all",
    metricsWorkspaces: reader.integer("SLUICE_METRICS_WORKSPACES", 0, metricsWorkspacesMax) ?? 0,
    otlp: otlp.settings,
    agentTelemetry,
    authorities: readAuthorities(reader),
    webhookPlaces: readWebhookPlaces(reader),
    egress: readEgress(reader),
    priceList: readPriceListSource(reader),
    mail: readMail(reader),
    bucket: readBucket(reader),
    ledgerExportKeys: readLedgerExportKeys(reader),
    blobs: reader.oneOf("SLUICE_BLOBS", blobFolders) ?? "shared",
    memoryBytes: readMemory(reader),
    connectionsMax: reader.integer("SLUICE_CONNECTIONS_MAX", bounds.connectionsMin, bounds.connectionsMax),
    connectionsPerAddressMax: reader.integer("SLUICE_CONNECTIONS_PER_ADDRESS_MAX", 1, bounds.connectionsMax),
    providerKeys: readProviderKeys(reader, providerVariables),
    warnings: Object.freeze([...unknownVariables(variables), ...otlp.warnings, ...nowhere]),
  };
  if (environment.workers > 1 && (environment.databaseUrl === null || environment.redisUrl === null)) {
    reader.refuse(
      "SLUICE_WORKERS",
      "must be 1 without SLUICE_DATABASE_URL and SLUICE_REDIS_URL: several workers share their data and count together only there",
    );
  }
  if (environment.redisUrl !== null && environment.databaseUrl === null) {
    reader.refuse(
      "SLUICE_REDIS_URL",
      "needs SLUICE_DATABASE_URL: only processes that share a database share their limits; unset it, or set both",
    );
  }
  if (environment.admin !== null && environment.admin.port !== 0 && environment.admin.port === environment.port) {
    reader.refuse("SLUICE_ADMIN_PORT", "must differ from SLUICE_PORT; leave it out to have everything on one");
  }
  if (reader.problems.length > 0) throw new EnvironmentInvalid(reader.problems);
  return Object.freeze(environment);
}

const logLevels = ["debug", "info", "warn", "error"] as const;
const accessLogModes = ["all", "errors", "off"] as const;
const logFormats = ["pretty", "json"] as const;
const blobFolders = ["shared", "separate"] as const;
const adminPasswordLengthMin = 12;

const knownNames = [
  "SLUICE_METRICS_KEY",
  "SLUICE_HOST",
  "SLUICE_PORT",
  "SLUICE_ADMIN_PORT",
  "SLUICE_ADMIN_HOST",
  "SLUICE_ADMIN_URL",
  "SLUICE_TLS_CERT_FILE",
  "SLUICE_CATALOGUE_FROM",
  "SLUICE_CATALOGUE_HOURS",
  "SLUICE_CATALOGUE_CHANGES",
  "SLUICE_CATALOGUE_DIGEST",
  "SLUICE_CATALOGUE_PUBLIC_KEY",
  "SLUICE_TLS_KEY_FILE",
  "SLUICE_DATA_DIR",
  "SLUICE_DATABASE_URL",
  "SLUICE_REDIS_URL",
  "SLUICE_CONFIG",
  "SLUICE_CONFIG_PRUNE",
  "SLUICE_WORKERS",
  "SLUICE_DRAIN_GRACE_MS",
  "SLUICE_MASTER_KEY",
  "SLUICE_ADMIN_EMAIL",
  "SLUICE_ADMIN_PASSWORD",
  "SLUICE_PUBLIC_URL",
  "SLUICE_TRUSTED_PROXIES",
  "SLUICE_CA",
  "SLUICE_WEBHOOK_ALLOW",
  "SLUICE_LOG_LEVEL",
  "SLUICE_LOGIN_FILE",
  "SLUICE_LOGIN_URL",
  "SLUICE_LOG_FORMAT",
  "SLUICE_ACCESS_LOG",
  "SLUICE_METRICS_WORKSPACES",
  "SLUICE_OTLP_ENDPOINT",
  "SLUICE_AGENT_TELEMETRY",
  "SLUICE_SMTP_URL",
  "SLUICE_MAIL_FROM",
  "SLUICE_MEMORY_MB",
  "SLUICE_CONNECTIONS_MAX",
  "SLUICE_CONNECTIONS_PER_ADDRESS_MAX",
  "SLUICE_BLOBS",
  "SLUICE_S3_BUCKET",
  "SLUICE_S3_ENDPOINT",
  "SLUICE_S3_REGION",
  "SLUICE_S3_PREFIX",
  "SLUICE_S3_ACCESS_KEY_ID",
  "SLUICE_S3_SECRET_ACCESS_KEY",
  "SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID",
  "SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY",
] as const;

function readPort(reader: VariableReader): number {
  // Kubernetes gives every pod SLUICE_PORT=tcp://… when a Service is called sluice.
  if (reader.text("SLUICE_PORT")?.startsWith("tcp://") === true) {
    reader.refuse(
      "SLUICE_PORT",
      "holds an address that Kubernetes sets for a Service called sluice; " +
        "set it to a port number, or switch enableServiceLinks off in the pod",
    );
    return 8787;
  }
  return reader.integer("SLUICE_PORT", 0, 65_535) ?? 8787;
}

/** What `loopback` and `private` stand for. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10"],
};

function readTrustedProxies(reader: VariableReader): readonly string[] {
  const ranges: string[] = [];
  for (const word of (reader.text("SLUICE_TRUSTED_PROXIES") ?? "").split(/[\s,]+/)) {
    if (word === "") continue;
    const named = namedRanges[word.toLowerCase()];
    if (named !== undefined) ranges.push(...named);
    else if (isAddressRange(word)) ranges.push(word);
    else {
      reader.refuse(
        "SLUICE_TRUSTED_PROXIES",
        "must be addresses, ranges such as 10.0.0.0/8, `loopback` or `private`, separated by commas",
      );
      break;
    }
  }
  return Object.freeze(ranges);
}

function readAdminListener(reader: VariableReader, callsHost: string): Environment["admin"] {
  const port = reader.integer("SLUICE_ADMIN_PORT", 0, 65_535);
  const host = reader.host("SLUICE_ADMIN_HOST") ?? callsHost;
  const url = reader.url("SLUICE_ADMIN_URL", ["http", "https"]);
  for (const name of ["SLUICE_ADMIN_HOST", "SLUICE_ADMIN_URL"]) {
    if (reader.isSet(name) && !reader.isSet("SLUICE_ADMIN_PORT")) {
      reader.refuse(name, "says nothing without SLUICE_ADMIN_PORT");
    }
  }
  return port === null ? null : Object.freeze({ host, port, url });
}

function readAdministrator(reader: VariableReader): Environment["administrator"] {
  const email = reader.email("SLUICE_ADMIN_EMAIL");
  const password = reader.secret("SLUICE_ADMIN_PASSWORD", adminPasswordLengthMin);
  const emailSet = reader.isSet("SLUICE_ADMIN_EMAIL");
  if (emailSet && !reader.isSet("SLUICE_ADMIN_PASSWORD")) {
    reader.refuse("SLUICE_ADMIN_PASSWORD", "must be set too when SLUICE_ADMIN_EMAIL is");
  }
  if (!emailSet && reader.isSet("SLUICE_ADMIN_PASSWORD")) {
    reader.refuse("SLUICE_ADMIN_EMAIL", "must be set too when SLUICE_ADMIN_PASSWORD is");
  }
  return email === null || password === null ? null : Object.freeze({ email, password });
}

function readMemory(reader: VariableReader): number | null {
  const mebibytes = reader.integer("SLUICE_MEMORY_MB", memoryBytesMin / 1024 / 1024, 1024 * 1024);
  return mebibytes === null ? null : mebibytes * 1024 * 1024;
}

function readMail(reader: VariableReader): Environment["mail"] {
  const url = reader.secretUrl("SLUICE_SMTP_URL", ["smtp", "smtps"]);
  const from = reader.email("SLUICE_MAIL_FROM");
  if (url !== null && !reader.isSet("SLUICE_MAIL_FROM")) {
    reader.refuse("SLUICE_MAIL_FROM", "must be set too when SLUICE_SMTP_URL is");
  }
  if (url !== null && !hasReadableAccount(url)) {
    reader.refuse(
      "SLUICE_SMTP_URL",
      "has a user or a password that is not percent-encoded rightly; a lone % is written %25",
    );
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

function readLedgerExportKeys(reader: VariableReader): BucketKeys | null {
  const names = ["SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID", "SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY"] as const;
  const accessKeyId = reader.text(names[0]);
  const secretAccessKey = reader.secret(names[1], 1);
  const [missing, other] = accessKeyId === null ? names : [names[1], names[0]];
  if (reader.isSet(other) && !reader.isSet(missing)) reader.refuse(missing, `must be set when ${other} is`);
  if (accessKeyId === null || secretAccessKey === null) return null;
  return Object.freeze({ accessKeyId, secretAccessKey });
}

function readBucket(reader: VariableReader): Bucket | null {
  const name = reader.text("SLUICE_S3_BUCKET");
  const endpoint = reader.url("SLUICE_S3_ENDPOINT", ["http", "https"]);
  if (name === null) return null;
  const accessKeyId = reader.text("SLUICE_S3_ACCESS_KEY_ID");
  if (accessKeyId === null) reader.refuse("SLUICE_S3_ACCESS_KEY_ID", "must be set when SLUICE_S3_BUCKET is");
  const secretAccessKey = reader.secret("SLUICE_S3_SECRET_ACCESS_KEY", 1);
  if (!reader.isSet("SLUICE_S3_SECRET_ACCESS_KEY")) {
    reader.refuse("SLUICE_S3_SECRET_ACCESS_KEY", "must be set when SLUICE_S3_BUCKET is");
  }
  if (accessKeyId === null || secretAccessKey === null) return null;
  return Object.freeze({
    name,
    endpoint,
    region: reader.text("SLUICE_S3_REGION") ?? "us-east-1",
    prefix: reader.text("SLUICE_S3_PREFIX") ?? "",
    accessKeyId,
    secretAccessKey,
  });
}

function readProviderKeys(
  reader: VariableReader,
  providerVariables: readonly ProviderVariables[],
): readonly FoundProviderKey[] {
  const found: FoundProviderKey[] = [];
  for (const { kind, envKey, envBaseUrl } of providerVariables) {
    // An empty vendor variable is common in compose files and means that there is no such provider.
    if (reader.text(envKey) === null) continue;
    const apiKey = reader.secret(envKey, 1);
    const baseUrl = envBaseUrl === null ? null : reader.url(envBaseUrl, ["http", "https"]);
    if (apiKey !== null) found.push(Object.freeze({ kind, envKey, apiKey, baseUrl }));
  }
  return Object.freeze(found);
}

/** Only near misses are told: other SLUICE_ names may well be read by the config file. */
function unknownVariables(variables: Variables): string[] {
  const known = new Set<string>([...knownNames, ...secretNames.map((name) => `${name}_FILE`)]);
  const warnings: string[] = [];
  for (const name of Object.keys(variables).sort()) {
    if (!name.startsWith("SLUICE_") || known.has(name)) continue;
    const hint = didYouMean(name, knownNames);
    if (hint !== "") warnings.push(`${name} is not a variable of Sluice${hint}`);
  }
  return warnings;
}
