/**
 * Which of a caller's headers go upstream: every one that is not known to be unsafe, so that whatever a vendor's
 * client depends on arrives. Kept back: credentials and cookies, what belongs to one connection (RFC 9110, 7.6.1),
 * what would choose another account or make another request of this one, what tells about the caller's network, and our
 * own.
 */
export function forwardedHeaders(headers: Headers): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of headers) {
    let forward = decided.get(name);
    if (forward === undefined) {
      forward = isForwarded(name);
      if (decided.size < decidedMax) decided.set(name, forward);
    }
    if (forward) out[name] = value;
  }
  return out;
}

/** What means the same to every vendor: for a call that goes on in another dialect. */
export function neutralHeaders(headers: Headers): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of neutral) {
    const value = headers.get(name);
    if (value !== null) out[name] = value;
  }
  return out;
}

const neutral = ["idempotency-key", "traceparent", "tracestate", "x-client-request-id"] as const;

const decidedMax = 2_000;
const decided = new Map<string, boolean>();

const keptBack: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "trailers",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "content-encoding",
  "expect",
  "accept-encoding",
  "http2-settings",
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "ocp-apim-subscription-key",
  "x-auth-token",
  "x-access-token",
  "x-csrf-token",
  "cookie",
  "set-cookie",
  "openai-organization",
  "openai-project",
  "x-goog-user-project",
  "forwarded",
  "via",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "x-cluster-client-ip",
  "fastly-client-ip",
  "x-azure-clientip",
  "x-azure-socketip",
  "x-appengine-user-ip",
  "x-original-forwarded-for",
  "cdn-loop",
  "origin",
  "referer",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
  "x-request-id",
  "x-attempt-id",
  "dnt",
  "priority",
  "upgrade-insecure-requests",
]);

const keptBackPrefixes = [
  "proxy-",
  "x-forwarded-",
  "sec-",
  "cf-",
  "x-sluice-",
  "x-envoy-",
  "x-amz-",
  "x-vercel-",
  "fly-",
  "if-",
  "x-ms-client-principal",
  "x-goog-authenticated-user-",
  "x-goog-iam-",
];

function isForwarded(name: string): boolean {
  return !keptBack.has(name) && !keptBackPrefixes.some((prefix) => name.startsWith(prefix));
}
