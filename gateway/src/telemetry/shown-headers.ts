/**
 * Headers whose values are shown where a request is looked at: what vendors' clients, upstreams and this gateway are known
 * to write. Nobody knows what any other header holds, so of those the name alone is shown.
 */
export function isShownHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return shown.has(lower) || beginnings.some((beginning) => lower.startsWith(beginning));
}

const shown: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "age",
  "allow",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "etag",
  "expect",
  "host",
  "http-referer",
  "idempotency-key",
  "keep-alive",
  "origin",
  "originator",
  "referer",
  "request-id",
  "retry-after",
  "retry-after-ms",
  "server",
  "traceparent",
  "tracestate",
  "transfer-encoding",
  "user-agent",
  "vary",
  "version",
  "via",
  "warning",
  "x-app",
  "x-client-app",
  "x-client-request-id",
  "x-goog-api-client",
  "x-models-etag",
  "x-reasoning-included",
  "x-request-id",
  "x-server-timeout",
  "x-should-retry",
  "x-sim-script",
  "x-title",
]);

const beginnings: readonly string[] = [
  "anthropic-",
  "openai-",
  "ratelimit",
  "x-anthropic-",
  "x-claude-",
  "x-codex-",
  "x-ratelimit-",
  "x-sluice-",
  "x-stainless-",
];
