import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { inspect } from "node:util";
import { EnvironmentInvalid } from "./config-invalid.ts";
import { readEnvironment } from "./environment.ts";
import type { Variables } from "./expand-variables.ts";

const vendors = [
  { kind: "openai", envKey: "OPENAI_API_KEY", envBaseUrl: "OPENAI_BASE_URL" },
  { kind: "ark", envKey: "ARK_API_KEY", envBaseUrl: null },
];

test("returns the documented defaults, frozen, for an empty environment", () => {
  const environment = readEnvironment({});
  expect(environment).toEqual({
    host: "127.0.0.1",
    port: 8787,
    admin: null,
    dataDir: "./data",
    databaseUrl: null,
    redisUrl: null,
    configFile: null,
    configPrune: false,
    workers: 1,
    drainGraceMs: 5_000,
    masterKey: null,
    metricsKey: null,
    administrator: null,
    publicUrl: null,
    tls: null,
    trustedProxies: [],
    logLevel: "info",
    logFormat: null,
    accessLog: "all",
    metricsWorkspaces: 0,
    agentTelemetry: "drop",
    authorities: [],
    webhookExemptions: [],
    workload: expect.anything(),
    egress: null,
    priceList: null,
    otlp: null,
    mail: null,
    bucket: null,
    ledgerExportKeys: null,
    blobs: "shared",
    memoryBytes: null,
    connectionsMax: null,
    connectionsPerAddressMax: null,
    providerKeys: [],
    warnings: [],
  });
  expect(Object.isFrozen(environment)).toBe(true);
});

test("reads every variable", () => {
  const environment = readEnvironment({
    SLUICE_HOST: "::1",
    SLUICE_PORT: "9000",
    SLUICE_DATA_DIR: "/var/lib/sluice",
    SLUICE_DATABASE_URL: "postgres://u:p@db/sluice",
    SLUICE_REDIS_URL: "rediss://cache:6380",
    SLUICE_CONFIG: "/etc/sluice.yaml",
    SLUICE_WORKERS: "3",
    SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef",
    SLUICE_ADMIN_EMAIL: "ada@example.com",
    SLUICE_ADMIN_PASSWORD: "correct horse",
    SLUICE_PUBLIC_URL: "https://ai.example.com/",
    SLUICE_LOG_LEVEL: "DEBUG",
    SLUICE_LOG_FORMAT: "json",
    SLUICE_OTLP_ENDPOINT: "http://collector:4318",
  });
  expect(environment).toMatchObject({
    host: "::1",
    port: 9000,
    dataDir: "/var/lib/sluice",
    configFile: "/etc/sluice.yaml",
    workers: 3,
    publicUrl: "https://ai.example.com",
    logLevel: "debug",
    logFormat: "json",
    otlp: { traces: { url: "http://collector:4318/v1/traces" }, logs: { url: "http://collector:4318/v1/logs" } },
  });
  expect(environment.databaseUrl?.reveal()).toBe("postgres://u:p@db/sluice");
  expect(environment.redisUrl?.reveal()).toBe("rediss://cache:6380");
  expect(environment.masterKey?.reveal()).toBe("0123456789abcdef0123456789abcdef");
  expect(environment.administrator?.email).toBe("ada@example.com");
  expect(environment.administrator?.password.reveal()).toBe("correct horse");
});

test("hides secrets when the environment is printed", () => {
  const environment = readEnvironment(
    {
      SLUICE_MASTER_KEY: "m".repeat(32),
      SLUICE_ADMIN_EMAIL: "a@b",
      SLUICE_ADMIN_PASSWORD: "pass-pass-pass",
      OPENAI_API_KEY: "sk-canary",
    },
    vendors,
  );
  const printed = inspect(environment, { depth: 9 }) + JSON.stringify(environment);
  for (const secret of ["mmmm", "pass-pass", "canary"]) expect(printed).not.toContain(secret);
});

test("reads API keys from the vendors' variables, ignoring empty ones", () => {
  const found = readEnvironment(
    { OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: "https://eu.example.com/v1/", ARK_API_KEY: "" },
    vendors,
  ).providerKeys;
  expect(found.map(({ kind, envKey, baseUrl }) => ({ kind, envKey, baseUrl }))).toEqual([
    { kind: "openai", envKey: "OPENAI_API_KEY", baseUrl: "https://eu.example.com/v1" },
  ]);
  expect(found[0]?.apiKey.reveal()).toBe("sk-1");
});

const refused: readonly [string, Variables, string][] = [
  ["port", { SLUICE_PORT: "80a" }, "SLUICE_PORT must be an integer from 0 to 65535"],
  ["port range", { SLUICE_PORT: "65536" }, "SLUICE_PORT must be an integer from 0 to 65535"],
  [
    "port from Kubernetes",
    { SLUICE_PORT: "tcp://10.0.0.1:8787" },
    "SLUICE_PORT is a URL that Kubernetes sets for a Service called sluice; " +
      "set it to a port number, or set enableServiceLinks to false in the pod",
  ],
  ["host", { SLUICE_HOST: "http://x" }, "SLUICE_HOST must be an IP address or a host name, without scheme or port"],
  ["workers", { SLUICE_WORKERS: "0" }, "SLUICE_WORKERS must be an integer from 1 to 256"],
  [
    "workers alone",
    { SLUICE_WORKERS: "2" },
    "SLUICE_WORKERS must be 1 without SLUICE_DATABASE_URL and SLUICE_REDIS_URL, which several workers need to share data and limits",
  ],
  [
    "database",
    { SLUICE_DATABASE_URL: "mysql://db" },
    "SLUICE_DATABASE_URL must be a URL that starts with postgres:// or postgresql://",
  ],
  [
    "redis",
    { SLUICE_REDIS_URL: "cache:6379" },
    "SLUICE_REDIS_URL must be a URL that starts with redis:// or rediss://",
  ],
  [
    "redis alone",
    { SLUICE_REDIS_URL: "redis://:pass@cache" },
    "SLUICE_REDIS_URL needs SLUICE_DATABASE_URL, since only processes with the same database share limits; unset it, or set both",
  ],
  ["empty master key", { SLUICE_MASTER_KEY: "" }, "SLUICE_MASTER_KEY is empty; set a value or unset it"],
  ["short master key", { SLUICE_MASTER_KEY: "short-secret" }, "SLUICE_MASTER_KEY must have at least 32 characters"],
  [
    "master key with newline",
    { SLUICE_MASTER_KEY: `${"m".repeat(32)}\n` },
    "SLUICE_MASTER_KEY starts or ends with white space",
  ],
  [
    "password alone",
    { SLUICE_ADMIN_PASSWORD: "correct horse" },
    "SLUICE_ADMIN_EMAIL must be set when SLUICE_ADMIN_PASSWORD is",
  ],
  ["email alone", { SLUICE_ADMIN_EMAIL: "a@b" }, "SLUICE_ADMIN_PASSWORD must be set when SLUICE_ADMIN_EMAIL is"],
  [
    "email",
    { SLUICE_ADMIN_EMAIL: "ada", SLUICE_ADMIN_PASSWORD: "correct horse" },
    "SLUICE_ADMIN_EMAIL must be an email address",
  ],
  [
    "public url",
    { SLUICE_PUBLIC_URL: "ai.example.com" },
    "SLUICE_PUBLIC_URL must be a URL that starts with http:// or https://",
  ],
  [
    "public url secret",
    { SLUICE_PUBLIC_URL: "https://u:p@x" },
    "SLUICE_PUBLIC_URL must not contain a username or password",
  ],
  [
    "public url query",
    { SLUICE_PUBLIC_URL: "https://x/?a=1" },
    "SLUICE_PUBLIC_URL must not contain a query or fragment",
  ],
  ["log level", { SLUICE_LOG_LEVEL: "loud" }, "SLUICE_LOG_LEVEL must be one of debug, info, warn, error"],
  ["log format", { SLUICE_LOG_FORMAT: "xml" }, "SLUICE_LOG_FORMAT must be one of pretty, json"],
  [
    "vendor address",
    { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "ftp://x" },
    "OPENAI_BASE_URL must be a URL that starts with http:// or https://",
  ],
];

test.each(refused)(
  "refuses an invalid variable in one line that names it and hides its value: %s",
  (_, variables, line) => {
    expect(problemsOf(variables)).toEqual([line]);
  },
);

test("reports all invalid variables at once", () => {
  expect(problemsOf({ SLUICE_PORT: "x", SLUICE_WORKERS: "x", SLUICE_LOG_LEVEL: "x" })).toHaveLength(3);
});

test("warns about a mistyped variable with the right name, and ignores other SLUICE_ variables", () => {
  const { warnings } = readEnvironment({ SLUICE_PROT: "1", SLUICE_SERVICE_HOST: "10.0.0.1", SLUICE_TEAM_A_KEY: "k" });
  expect(warnings).toEqual(["unknown variable SLUICE_PROT; did you mean `SLUICE_PORT`?"]);
});

function problemsOf(variables: Variables): readonly string[] {
  try {
    readEnvironment(variables, vendors);
  } catch (thrown) {
    if (thrown instanceof EnvironmentInvalid) return thrown.problems;
    throw thrown;
  }
  return [];
}

test("requires the keys of a bucket, and hides them", () => {
  const bucket = {
    SLUICE_S3_BUCKET: "media",
    SLUICE_S3_ACCESS_KEY_ID: "AK",
    SLUICE_S3_SECRET_ACCESS_KEY: "canary-key",
  };
  const read = readEnvironment({ ...bucket, SLUICE_S3_ENDPOINT: "http://127.0.0.1:9000" }).bucket;
  expect(read).toMatchObject({ name: "media", endpoint: "http://127.0.0.1:9000", region: "us-east-1", prefix: "" });
  expect(JSON.stringify(read)).not.toContain("canary");
  expect(() => readEnvironment({ SLUICE_S3_BUCKET: "media" })).toThrow("SLUICE_S3_ACCESS_KEY_ID");
});

test("requires a sender for a mail server, and hides the password in its URL", () => {
  const url = "smtp://user:hush-hush@mail.example.com:587";
  const { mail } = readEnvironment({ SLUICE_SMTP_URL: url, SLUICE_MAIL_FROM: "sluice@example.com" });
  expect([mail?.url.reveal(), mail?.from]).toEqual([url, "sluice@example.com"]);
  expect(inspect(mail)).not.toContain("hush-hush");
  expect(() => readEnvironment({ SLUICE_SMTP_URL: url })).toThrow("SLUICE_MAIL_FROM");
  expect(() => readEnvironment({ SLUICE_SMTP_URL: "https://mail" })).toThrow("smtp://");
  const lone = "smtp://mailer:50%off@mail.example.com";
  expect(() => readEnvironment({ SLUICE_SMTP_URL: lone, SLUICE_MAIL_FROM: "sluice@example.com" })).toThrow(
    "SLUICE_SMTP_URL has a username or password with invalid percent-encoding",
  );
});

test("reads the source of the price list, and applies changes only with a digest or public key", () => {
  const key = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString();
  const from = "https://prices.example/data.json";
  expect(readEnvironment({ SLUICE_PRICE_LIST_FROM: from }).priceList).toEqual({
    ...{ from, everyMs: 86_400_000, changes: "review", digest: null, publicKey: null },
  });
  const applying = { SLUICE_PRICE_LIST_FROM: from, SLUICE_PRICE_LIST_CHANGES: "apply" };
  const bare = key.replaceAll(/-----.*-----|\n/g, "");
  for (const one of [key, bare]) {
    const { priceList } = readEnvironment({ ...applying, SLUICE_PRICE_LIST_PUBLIC_KEY: one });
    expect([priceList?.changes, priceList?.publicKey?.asymmetricKeyType]).toEqual(["apply", "ed25519"]);
  }
  expect(problemsOf(applying)).toEqual([
    "SLUICE_PRICE_LIST_CHANGES is apply, which needs SLUICE_PRICE_LIST_PUBLIC_KEY or SLUICE_PRICE_LIST_DIGEST to verify the prices",
  ]);
  expect(problemsOf({ SLUICE_PRICE_LIST_FROM: "http://prices.example/data.json" })).toHaveLength(1);
  expect(problemsOf({ SLUICE_PRICE_LIST_HOURS: "3" })).toEqual([
    "SLUICE_PRICE_LIST_HOURS has no effect without SLUICE_PRICE_LIST_FROM",
  ]);
  expect(problemsOf({ SLUICE_PRICE_LIST_FROM: "prices.json", SLUICE_PRICE_LIST_PUBLIC_KEY: "a" })).toEqual([
    "SLUICE_PRICE_LIST_PUBLIC_KEY must be an Ed25519 public key in PEM, with or without the BEGIN and END lines",
  ]);
});

test("requires both TLS files or neither", () => {
  const both = { SLUICE_TLS_CERT_FILE: "/tls/tls.crt", SLUICE_TLS_KEY_FILE: "/tls/tls.key" };
  expect(readEnvironment(both)).toMatchObject({
    tls: { certificate: "/tls/tls.crt", key: "/tls/tls.key" },
  });
  expect(problemsOf({ SLUICE_TLS_CERT_FILE: "/tls/tls.crt" })).toEqual([
    "SLUICE_TLS_KEY_FILE must be set when SLUICE_TLS_CERT_FILE is",
  ]);
  expect(problemsOf({ SLUICE_TLS_KEY_FILE: "/tls/tls.key" })).toEqual([
    "SLUICE_TLS_CERT_FILE must be set when SLUICE_TLS_KEY_FILE is",
  ]);
});

test("warns if telemetry of agents is relayed without a collector", () => {
  const relay = { SLUICE_AGENT_TELEMETRY: "relay" };
  expect(readEnvironment(relay).warnings).toEqual([expect.stringContaining("no collector is configured")]);
  expect(readEnvironment({ ...relay, OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }).warnings).toEqual([]);
});
