import { bounds } from "#core/index.ts";
import { didYouMean } from "./closest-name.ts";
import { EnvironmentInvalid } from "./config-invalid.ts";
import {
  type ProviderVariables,
  readAdministrator,
  readAdminListener,
  readAuthorities,
  readBucket,
  readEgress,
  readLedgerExportKeys,
  readMail,
  readMemory,
  readPort,
  readPriceListSource,
  readProviderKeys,
  readTls,
  readTrustedProxies,
  readWebhookPlaces,
} from "./environment-values.ts";
import type { Variables } from "./expand-variables.ts";
import { readOtlp } from "./otlp-settings.ts";
import { secretNames } from "./variable-files.ts";
import { VariableReader } from "./variable-reader.ts";

/** What may be asked for of workspaces with labels of their own. */
const metricsWorkspacesMax = 5_000;
const workersMax = 256;

const relayedNowhere = "SLUICE_AGENT_TELEMETRY is relay, and no collector is named: the telemetry of agents is dropped";

/** Everything the environment says, defaults filled in. Secrets, and addresses that may hold one, are Secret. */
export type Environment = ReturnType<typeof readEnvironment>;

/** Reads the variables that docs/configuration.md lists. Throws EnvironmentInvalid. An empty variable counts as not set, except for secrets. */
export function readEnvironment(variables: Variables, providerVariables: readonly ProviderVariables[] = []) {
  const reader = new VariableReader(variables);
  const host = reader.host("SLUICE_HOST") ?? "127.0.0.1";
  const otlp = readOtlp(variables, reader.url("SLUICE_OTLP_ENDPOINT", ["http", "https"]));
  const agentTelemetry = reader.oneOf("SLUICE_AGENT_TELEMETRY", ["drop", "relay"]) ?? "drop";
  const nowhere = agentTelemetry === "relay" && otlp.settings === null ? [relayedNowhere] : [];
  const environment = {
    host,
    port: readPort(reader),
    /** A listener of its own for the console, the admin API, metrics and documents; null: all on one. */
    admin: readAdminListener(reader, host),
    /** The ports speak TLS with what is in these files; null: plain HTTP. */
    tls: readTls(reader),
    dataDir: reader.text("SLUICE_DATA_DIR") ?? "./data",
    databaseUrl: reader.secretUrl("SLUICE_DATABASE_URL", ["postgres", "postgresql"]),
    redisUrl: reader.secretUrl("SLUICE_REDIS_URL", ["redis", "rediss"]),
    configFile: reader.text("SLUICE_CONFIG"),
    /** Large removals of a config file are applied without a confirmation. */
    configPrune: reader.oneOf("SLUICE_CONFIG_PRUNE", ["refuse", "allow"]) === "allow",
    workers: reader.integer("SLUICE_WORKERS", 1, workersMax) ?? 1,
    /** How long `/readyz` fails before calls are refused, after SIGTERM. */
    drainGraceMs: reader.integer("SLUICE_DRAIN_GRACE_MS", 0, bounds.drainGraceMsMax) ?? bounds.drainGraceMs,
    /** null: the key file in the data directory. */
    masterKey: reader.secret("SLUICE_MASTER_KEY", 32),
    /** What `/metrics` is asked for with; null: anybody who reaches its port reads it. */
    metricsKey: reader.secret("SLUICE_METRICS_KEY", 16),
    administrator: readAdministrator(reader),
    /** Without a slash at the end. */
    publicUrl: reader.url("SLUICE_PUBLIC_URL", ["http", "https"]),
    /** Addresses and ranges of proxies whose `Forwarded` and `X-Forwarded-For` are believed. */
    trustedProxies: readTrustedProxies(reader),
    logLevel: reader.oneOf("SLUICE_LOG_LEVEL", ["debug", "info", "warn", "error"]) ?? "info",
    /** null: pretty on a terminal, else json. */
    logFormat: reader.oneOf("SLUICE_LOG_FORMAT", ["pretty", "json"]),
    /** Which requests have a line of their own in the log. */
    accessLog: reader.oneOf("SLUICE_ACCESS_LOG", ["all", "errors", "off"]) ?? "all",
    /** Workspaces with metrics of their own; 0: none. */
    metricsWorkspaces: reader.integer("SLUICE_METRICS_WORKSPACES", 0, metricsWorkspacesMax) ?? 0,
    /** Where telemetry is sent; null: nowhere. */
    otlp: otlp.settings,
    /** What becomes of the telemetry that coding agents send: nothing, or it goes to the same place. */
    agentTelemetry,
    /** Certificate authorities (PEM) that are believed beside the usual ones. */
    authorities: readAuthorities(reader),
    /** Private places that webhooks may go to. */
    webhookPlaces: readWebhookPlaces(reader),
    /** The proxies that calls to other machines leave by; null: none. */
    egress: readEgress(reader),
    /** Where newer prices are looked for; null: nowhere. */
    priceList: readPriceListSource(reader),
    /** The mail server for invitations and notices; null: none. */
    mail: readMail(reader),
    /** Where assets and copied results are kept; null: on the disk, in the data directory. */
    bucket: readBucket(reader),
    /** For the bucket that the ledger is copied to; null: none are named. */
    ledgerExportKeys: readLedgerExportKeys(reader),
    /** Without a bucket: whether all processes of the installation must use one folder, or each may have its own. */
    blobs: reader.oneOf("SLUICE_BLOBS", ["shared", "separate"]) ?? "shared",
    /** What the gateway may use of the machine's memory, all workers together; null: what its cgroup allows. */
    memoryBytes: readMemory(reader),
    /** Connections of callers at most, all workers together, and of one address to a worker; null: by memory and descriptors, and by share. */
    connectionsMax: reader.integer("SLUICE_CONNECTIONS_MAX", bounds.connectionsMin, bounds.connectionsMax),
    connectionsPerAddressMax: reader.integer("SLUICE_CONNECTIONS_PER_ADDRESS_MAX", 1, bounds.connectionsMax),
    providerKeys: readProviderKeys(reader, providerVariables),
    /** Variables that look mistyped, in words. */
    warnings: Object.freeze([...unknownVariables(variables, reader.asked), ...otlp.warnings, ...nowhere]),
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

/** Read by a command, or only together with others. */
const alsoKnown = ["SLUICE_LOGIN_FILE", "SLUICE_LOGIN_URL", "SLUICE_S3_REGION", "SLUICE_S3_PREFIX"];

/** Only near misses are told: other SLUICE_ names may well be read by the config file. */
function unknownVariables(variables: Variables, asked: ReadonlySet<string>): string[] {
  const names = [...asked, ...alsoKnown].filter((name) => name.startsWith("SLUICE_"));
  const known = new Set<string>([...names, ...secretNames.map((name) => `${name}_FILE`)]);
  const warnings: string[] = [];
  for (const name of Object.keys(variables).sort()) {
    if (!name.startsWith("SLUICE_") || known.has(name)) continue;
    const hint = didYouMean(name, names);
    if (hint !== "") warnings.push(`${name} is not a variable of Sluice${hint}`);
  }
  return warnings;
}
