import { bounds, oncePerObject, type Provider, type WireDialectId } from "#core/index.ts";
import { providerKind } from "./kinds.ts";
import { settingList } from "./settings.ts";

/**
 * Selects the caller's headers that an account receives: common ones, those of its dialects, those of its provider type,
 * and `settings.forward_headers`. A trailing `*` matches a prefix. Unknown headers are dropped, since routers and clouds
 * have many that select another host, account, model or tier.
 */
export const callerHeaders = oncePerObject((provider: Provider) => {
  const kind = providerKind(provider.kind);
  const dialects = new Set(kind?.lanes.map((lane) => lane.dialect));
  const families = [...dialects].flatMap((dialect) => familyOf[dialect] ?? openaiFamily);
  const listed = [...commonHeaders, ...families, ...(kind?.callerHeaders ?? []), ...extraHeaders(provider)];
  const names = new Set(listed.map((name) => name.toLowerCase()));
  const prefixes = [...names].flatMap((name) => (name.endsWith("*") ? name.slice(0, -1) : []));
  const isListed = (name: string) =>
    names.has(name) || (!billingHeaders.has(name) && prefixes.some((prefix) => name.startsWith(prefix)));
  const cache = new Map<string, boolean>();
  return {
    /** `name` is lowercase. */
    accepts(name: string): boolean {
      const cached = cache.get(name);
      if (cached !== undefined) return cached;
      const accepted = isListed(name) && !isBlockedHeader(name);
      if (cache.size < bounds.headerNamesMax) cache.set(name, accepted);
      return accepted;
    },
  };
});

/** Whether the account wants a trace header on every call. */
export function sendsOwnTrace(provider: Provider): boolean {
  return extraHeaders(provider).some((name) => name.toLowerCase() === "traceparent");
}

/** A problem with `settings.forward_headers`; null if there is none. */
export function forwardHeadersProblem(provider: Provider): string | null {
  const names = extraHeaders(provider);
  if (!names.every((name) => namePattern.test(name))) {
    return "settings.forward_headers must be a list of header names, each optionally ending in *";
  }
  const refused = names.find((name) => isBlockedHeader(name.toLowerCase()));
  return refused === undefined ? null : `settings.forward_headers must not contain ${refused}: it is never forwarded`;
}

function extraHeaders(provider: Provider): readonly string[] {
  return settingList(provider, "forward_headers");
}

/** At least two characters before a star, so that no pattern matches everything. */
const namePattern = /^(?:[A-Za-z0-9][\w.-]*|[A-Za-z0-9][\w.-]+\*)$/;

/** Headers that choose who pays: forwarded only if listed by full name. */
const billingHeaders: ReadonlySet<string> = new Set(["anthropic-user-profile-id"]);

/** Common headers, and those of coding agents (Codex and Claude Code in 2026). */
const commonHeaders: readonly string[] = [
  "accept",
  "accept-language",
  "user-agent",
  "idempotency-key",
  "traceparent",
  "tracestate",
  "x-client-request-id",
  "x-stainless-*",
  "originator",
  "version",
  "session_id",
  "session-id",
  "conversation_id",
  "conversation-id",
  "thread_id",
  "thread-id",
  "x-codex-*",
  "x-openai-subagent",
  "x-openai-memgen-request",
  "x-responsesapi-*",
  "x-app",
  "x-client-app",
  "x-claude-*",
];

const openaiFamily: readonly string[] = ["openai-*"];

const googleFamily: readonly string[] = ["x-goog-api-client", "x-goog-upload-*", "x-server-timeout"];

/** Dialects that are not listed use OpenAI's headers. */
const familyOf: { readonly [Dialect in WireDialectId]?: readonly string[] } = {
  "openai-chat": openaiFamily,
  "openai-responses": openaiFamily,
  "openai-images": openaiFamily,
  "openai-decisions": openaiFamily,
  "anthropic-messages": ["anthropic-*", "x-anthropic-*"],
  gemini: googleFamily,
  "gemini-interactions": [...googleFamily, "api-revision"],
  "gemini-decisions": [...googleFamily, "api-revision"],
  "bedrock-converse": [],
  "gemini-embed-content": googleFamily,
  "gemini-batch-embed": googleFamily,
  "vertex-predict": googleFamily,
  "titan-embeddings": [],
  "cohere-on-bedrock": [],
};

/**
 * Never forwarded: credentials and cookies, hop-by-hop headers (RFC 9110, 7.6.1), headers that change the request, identify
 * the caller, describe its network or select another account, and our own.
 */
export function isBlockedHeader(name: string): boolean {
  return (
    blockedHeaders.has(name) ||
    sensitiveWords.test(name) ||
    blockedPrefixes.some((beginning) => name.startsWith(beginning))
  );
}

/** Parts of names that carry a credential or select an account, a host or a model. */
const sensitiveWords =
  /authorization|credential|cookie|secret|password|api-?key|(?:auth|access|security|csrf|xsrf|id)-token|organi[sz]ation|project|account|workspace|tenant|custom-host|target-ur[il]|upstream|-model$|-deployment$/;

const blockedHeaders: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "trailers",
  "transfer-encoding",
  "upgrade",
  "content-type",
  "content-length",
  "content-encoding",
  "expect",
  "accept-encoding",
  "http2-settings",
  "ocp-apim-subscription-key",
  "x-bf-vk",
  "forwarded",
  "via",
  "true-client-ip",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-original-url",
  "x-rewrite-url",
  "x-http-method",
  "x-method-override",
  "x-request-id",
  "x-attempt-id",
  "origin",
  "referer",
  "cdn-loop",
]);

const blockedPrefixes: readonly string[] = [
  "proxy-",
  "x-forwarded-",
  "x-http-method-",
  "x-sluice-",
  "x-amz-",
  "x-amzn-oidc-",
  "x-goog-user-",
  "x-goog-authenticated-",
  "x-goog-iam-",
  "x-ms-client-principal",
  "x-envoy-",
  "sec-",
  "if-",
];
