import { bounds, Failure, maskSecrets, Secret } from "#core/index.ts";

const hidden = "[redacted]";

/** Fields with such names are never shown. Compared in lower case without hyphens and underscores. */
const secretName =
  /(?:authorization|apikey|accesskey|privatekey|masterkey|secret|password|passphrase|credential|cookie|token)$/;

/** Masks keys, bearer tokens and passwords in URLs. Cuts the text at bounds.logTextMax. */
export function maskText(text: string): string {
  return maskSecrets(text.length > bounds.logTextMax ? `${text.slice(0, bounds.logTextMax)}…` : text);
}

/** Whether a header holds a credential, which is redacted everywhere in a capture. Includes more names than `isSecretName`. */
export function isSecretHeader(name: string): boolean {
  return isSecretName(name) || (secretHeader.test(name) && !plainHeaders.has(name.toLowerCase()));
}

/** Names that callers choose, perhaps ordinary words. */
const plainHeaders = new Set(["idempotency-key", "x-sluice-session"]);

const secretHeader =
  /(?:key|auth|jwt|assertion|signature|session(?:-?id)?|sid|cert|csrf|xsrf|dpop|vk|pw|pwd|pass|pin|otp|saml|ticket)$/i;

/** A plain, bounded copy of a value for the log: no credentials, no cycles, each getter read once. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Secret) return hidden;
  if (depth >= bounds.logDepthMax) return "[…]";
  if (value instanceof Error) return redactedError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, bounds.logMembersMax).map((member) => redacted(member, depth + 1));
  return redactedMembers(value instanceof Map ? Object.fromEntries(value) : value, depth);
}

function redactedMembers(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value).slice(0, bounds.logMembersMax)) {
    copy[name] = isSecretName(name) && member !== null ? hidden : redacted(member, depth + 1);
  }
  return copy;
}

/** A Failure is expected, so it needs no stack. */
function redactedError(error: Error, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = { type: error.name, message: maskText(error.message) };
  if ("code" in error && typeof error.code === "string") copy["code"] = error.code;
  if (!(error instanceof Failure) && error.stack !== undefined) copy["stack"] = maskText(error.stack);
  if (error.cause !== undefined) copy["cause"] = redacted(error.cause, depth + 1);
  return copy;
}

function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/[-_]/g, "").toLowerCase());
}

/** Headers whose values are shown with a captured request: those that vendors' clients, upstreams and this gateway are known to send. */
export function isShownHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return shown.has(lower) || shownPrefixes.some((prefix) => lower.startsWith(prefix));
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

const shownPrefixes: readonly string[] = [
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
