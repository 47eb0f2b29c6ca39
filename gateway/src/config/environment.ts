import { bounds } from "#core/index.ts";
import { didYouMean } from "./closest-name.ts";
import { EnvironmentInvalid } from "./config-invalid.ts";
import * as values from "./environment-values.ts";
import type { Variables } from "./expand-variables.ts";
import { readOtlp } from "./otlp-settings.ts";
import { secretNames } from "./variable-files.ts";
import { VariableReader } from "./variable-reader.ts";
import { readWorkload } from "./workload.ts";

const metricsWorkspacesMax = 5_000;
const workersMax = 256;

const noCollector = "SLUICE_AGENT_TELEMETRY is relay, but no collector is configured; telemetry of agents is dropped";

/** All settings from the environment, with defaults. Secrets, and URLs that may contain one, are `Secret`. */
export type Environment = ReturnType<typeof readEnvironment>;

/** Throws `EnvironmentInvalid`. An empty variable counts as unset, except for secrets. */
export function readEnvironment(variables: Variables, providerVariables: readonly values.ProviderVariables[] = []) {
  const reader = new VariableReader(variables);
  const host = reader.host("SLUICE_HOST") ?? "127.0.0.1";
  const otlp = readOtlp(variables, reader.url("SLUICE_OTLP_ENDPOINT", ["http", "https"]));
  const agentTelemetry = reader.oneOf("SLUICE_AGENT_TELEMETRY", ["drop", "relay"]) ?? "drop";
  const telemetryWarnings = agentTelemetry === "relay" && otlp.settings === null ? [noCollector] : [];
  const environment = {
    host,
    port: values.readPort(reader),
    /** A separate listener for the console, the admin API, metrics and API reference; null: one listener for all. */
    admin: values.readAdminListener(reader, host),
    /** null: plain HTTP. */
    tls: values.readTls(reader),
    dataDir: reader.text("SLUICE_DATA_DIR") ?? "./data",
    databaseUrl: reader.secretUrl("SLUICE_DATABASE_URL", ["postgres", "postgresql"]),
    redisUrl: reader.secretUrl("SLUICE_REDIS_URL", ["redis", "rediss"]),
    configFile: reader.text("SLUICE_CONFIG"),
    /** Whether large removals by a config file need no confirmation. */
    configPrune: reader.oneOf("SLUICE_CONFIG_PRUNE", ["refuse", "allow"]) === "allow",
    workers: reader.integer("SLUICE_WORKERS", 1, workersMax) ?? 1,
    /** How long `/readyz` fails after SIGTERM before calls are refused. */
    drainGraceMs: reader.integer("SLUICE_DRAIN_GRACE_MS", 0, bounds.drainGraceMsMax) ?? bounds.drainGraceMs,
    /** null: the key file in the data directory. */
    masterKey: reader.secret("SLUICE_MASTER_KEY", 32),
    /** The bearer token of `/metrics`; null: no token is needed. */
    metricsKey: reader.secret("SLUICE_METRICS_KEY", 16),
    administrator: values.readAdministrator(reader),
    publicUrl: reader.url("SLUICE_PUBLIC_URL", ["http", "https"]),
    /** Proxies that may set `Forwarded` and `X-Forwarded-For`. */
    trustedProxies: values.readTrustedProxies(reader),
    logLevel: reader.oneOf("SLUICE_LOG_LEVEL", ["debug", "info", "warn", "error"]) ?? "info",
    /** null: pretty on a terminal, else json. */
    logFormat: reader.oneOf("SLUICE_LOG_FORMAT", ["pretty", "json"]),
    /** Which requests are logged. */
    accessLog: reader.oneOf("SLUICE_ACCESS_LOG", ["all", "errors", "off"]) ?? "all",
    /** The number of workspaces with their own metrics. */
    metricsWorkspaces: reader.integer("SLUICE_METRICS_WORKSPACES", 0, metricsWorkspacesMax) ?? 0,
    /** null: no telemetry is exported. */
    otlp: otlp.settings,
    /** Whether the telemetry of coding agents is dropped or relayed to the collector. */
    agentTelemetry,
    authorities: values.readAuthorities(reader),
    webhookExemptions: values.readWebhookExemptions(reader),
    egress: values.readEgress(reader),
    /** null: prices are not updated. */
    priceList: values.readPriceListSource(reader),
    /** The mail server for invitations and notices; null: none. */
    mail: values.readMail(reader),
    /** For assets and copied results; null: the data directory. */
    bucket: values.readBucket(reader),
    ledgerExportKeys: values.readLedgerExportKeys(reader),
    /** Without a bucket: whether all processes must use the same folder. */
    blobs: reader.oneOf("SLUICE_BLOBS", ["shared", "separate"]) ?? "shared",
    /** The memory limit of all workers together; null: the cgroup's limit. */
    memoryBytes: values.readMemory(reader),
    /** Limits of all workers together, and of one address to a worker; null: by memory and file descriptors. */
    connectionsMax: reader.integer("SLUICE_CONNECTIONS_MAX", bounds.connectionsMin, bounds.connectionsMax),
    connectionsPerAddressMax: reader.integer("SLUICE_CONNECTIONS_PER_ADDRESS_MAX", 1, bounds.connectionsMax),
    /** The machine's identity, and what providers may use of it. */
    workload: readWorkload(reader, variables),
    providerKeys: values.readProviderKeys(reader, providerVariables),
    warnings: Object.freeze([
      ...misspelledVariables(variables, reader.namesRead),
      ...otlp.warnings,
      ...telemetryWarnings,
    ]),
  };
  if (environment.workers > 1 && (environment.databaseUrl === null || environment.redisUrl === null)) {
    reader.refuse(
      "SLUICE_WORKERS",
      "must be 1 without SLUICE_DATABASE_URL and SLUICE_REDIS_URL, which several workers need to share data and limits",
    );
  }
  if (environment.redisUrl !== null && environment.databaseUrl === null) {
    reader.refuse(
      "SLUICE_REDIS_URL",
      "needs SLUICE_DATABASE_URL, since only processes with the same database share limits; unset it, or set both",
    );
  }
  if (environment.admin !== null && environment.admin.port !== 0 && environment.admin.port === environment.port) {
    reader.refuse("SLUICE_ADMIN_PORT", "must differ from SLUICE_PORT; unset it to use one port for all");
  }
  if (reader.problems.length > 0) throw new EnvironmentInvalid(reader.problems);
  return Object.freeze(environment);
}

/** Variables that are read by commands, or only if others are set. */
const otherNames = [
  "SLUICE_LOGIN_FILE",
  "SLUICE_LOGIN_URL",
  "SLUICE_VAULT_ROLE_ID",
  "SLUICE_VAULT_KUBERNETES_ROLE",
  "SLUICE_VAULT_JWT_FILE",
  "SLUICE_VAULT_AUTH_MOUNT",
  "SLUICE_S3_REGION",
  "SLUICE_S3_PREFIX",
  "SLUICE_S3_SECRET_ACCESS_KEY",
];

/** Warns only about names similar to a valid one: the config file may use other SLUICE_ variables. */
function misspelledVariables(variables: Variables, namesRead: ReadonlySet<string>): string[] {
  const names = [...namesRead, ...otherNames].filter((name) => name.startsWith("SLUICE_"));
  const validNames = new Set<string>([...names, ...secretNames.map((name) => `${name}_FILE`)]);
  const warnings: string[] = [];
  for (const name of Object.keys(variables).sort()) {
    if (!name.startsWith("SLUICE_") || validNames.has(name)) continue;
    const hint = didYouMean(name, names);
    if (hint !== "") warnings.push(`unknown variable ${name}${hint}`);
  }
  return warnings;
}
