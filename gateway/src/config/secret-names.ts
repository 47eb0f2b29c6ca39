/** Variables that hold a secret, an address that may hold one, or a whole file. Keys of vendors are beside them. */
export const secretNames = [
  "SLUICE_DATABASE_URL",
  "SLUICE_REDIS_URL",
  "SLUICE_MASTER_KEY",
  "SLUICE_ADMIN_PASSWORD",
  "SLUICE_SMTP_URL",
  "SLUICE_S3_ACCESS_KEY_ID",
  "SLUICE_S3_SECRET_ACCESS_KEY",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
  "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
  "SLUICE_CA",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "ALL_PROXY",
] as const;
