import { bounds, oncePerObject, type Provider, type WireDialectId } from "#core/index.ts";
import { providerKind } from "./kinds.ts";
import { settingList } from "./settings.ts";

/**
 * Which of a caller's headers reach an account: those of the families below, those that its kind names, and those that
 * `settings.forward_headers` adds. A name that ends in `*` stands for all that begin so. What this list does not know
 * stays here: routers and clouds read a great many headers that choose another host, account, model or tier.
 */
class CallerHeaders {
  readonly #exact: ReadonlySet<string>;
  readonly #beginnings: readonly string[];
  /** What was decided for the names seen so far. */
  readonly #decided = new Map<string, boolean>();

  constructor(names: Iterable<string>) {
    const all = [...names].map((name) => name.toLowerCase());
    this.#exact = new Set(all.filter((name) => !name.endsWith("*")));
    this.#beginnings = all.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  }

  /** `name` in lower case. */
  takes(name: string): boolean {
    const known = this.#decided.get(name);
    if (known !== undefined) return known;
    const taken =
      (this.#exact.has(name) ||
        (!payers.has(name) && this.#beginnings.some((beginning) => name.startsWith(beginning)))) &&
      !isKeptBack(name);
    if (this.#decided.size < bounds.headerNamesMax) this.#decided.set(name, taken);
    return taken;
  }
}

/** The account's list, made once for each state of it. */
export const callerHeaders = oncePerObject((provider: Provider) => {
  const kind = providerKind(provider.kind);
  const dialects = new Set(kind?.lanes.map((lane) => lane.dialect));
  const families = [...dialects].flatMap((dialect) => familyOf[dialect] ?? openaiFamily);
  return new CallerHeaders([...common, ...families, ...(kind?.callerHeaders ?? []), ...addedBy(provider)]);
});

/** Whether its settings ask for the header that says which trace a call belongs to, also where its caller said nothing of one. */
export function sendsOwnTrace(provider: Provider): boolean {
  return addedBy(provider).some((name) => name.toLowerCase() === "traceparent");
}

/** What is wrong with `settings.forward_headers`; null when nothing is. */
export function forwardHeadersProblem(provider: Provider): string | null {
  const names = addedBy(provider);
  if (!names.every((name) => namePattern.test(name))) {
    return "settings.forward_headers must be a list of names of headers, each with or without a * at its end";
  }
  const refused = names.find((name) => isKeptBack(name.toLowerCase()));
  return refused === undefined ? null : `settings.forward_headers must not name ${refused}: it is never passed on`;
}

function addedBy(provider: Provider): readonly string[] {
  return settingList(provider, "forward_headers");
}

/** Two characters at least before a star: a list of everything is none. */
const namePattern = /^(?:[A-Za-z0-9][\w.-]*|[A-Za-z0-9][\w.-]+\*)$/;

/** Whose bill a call goes on: only where an operator lists the whole name. */
const payers: ReadonlySet<string> = new Set(["anthropic-user-profile-id"]);

/**
 * To every vendor: what means the same to all, and what agents send to whoever stands behind the address that they were
 * given (Codex and Claude Code as they were seen, 2026).
 */
const common: readonly string[] = [
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

/** What the others speak is OpenAI's, or close to it. */
const familyOf: { readonly [Dialect in WireDialectId]?: readonly string[] } = {
  "openai-chat": openaiFamily,
  "openai-responses": openaiFamily,
  "openai-images": openaiFamily,
  "anthropic-messages": ["anthropic-*", "x-anthropic-*"],
  gemini: googleFamily,
  "bedrock-converse": [],
  "gemini-embed-content": googleFamily,
  "gemini-batch-embed": googleFamily,
  "vertex-predict": googleFamily,
  "titan-embeddings": [],
  "cohere-on-bedrock": [],
};

/**
 * Never, whoever lists them: credentials and cookies, what belongs to one connection (RFC 9110, 7.6.1), what makes
 * another request of this one, what tells about the caller's network or says who the caller is, what chooses another
 * account, and our own.
 */
export function isKeptBack(name: string): boolean {
  return keptBack.has(name) || selects.test(name) || keptBackBeginnings.some((beginning) => name.startsWith(beginning));
}

/** Words in a header's name by which it carries a credential or chooses an account, a host or a model. */
const selects =
  /authorization|credential|cookie|secret|password|api-?key|(?:auth|access|security|csrf|xsrf|id)-token|organi[sz]ation|project|account|workspace|tenant|custom-host|target-ur[il]|upstream|-model$|-deployment$/;

const keptBack: ReadonlySet<string> = new Set([
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

const keptBackBeginnings: readonly string[] = [
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
