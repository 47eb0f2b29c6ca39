import {
  asFailure,
  bounds,
  type Failure,
  type HeaderReader,
  type Provider,
  Redactor,
  type WireDialectId,
} from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import {
  objectOf,
  parseObject,
  type RequestFacts,
  readRefusal,
  refusalShape,
  textOf,
  type UpstreamRefusal,
} from "#protocols/index.ts";
import type { WholeAnswer } from "#provider-client/index.ts";
import { accountRedactor, type ProviderKind } from "#providers/index.ts";
import type { Call, RelayDependencies } from "../call.ts";

export interface RefusedBy {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  readonly errorDialect: WireDialectId;
  /** Keeps what it said, unless that is about the account. */
  readonly entry?: { refusedWith: string | null };
  /** Of a request whose deployment is well when what it names is refused. */
  readonly facts?: RequestFacts;
  /** Returned as it is: its caller speaks to this vendor. */
  readonly asItIs?: boolean;
}

type Caller = Pick<Call, "requestId" | "protocol">;

/**
 * A bad answer as the provider's kind understands it. The body is returned as it is where it is an error of the caller's dialect, else
 * in that dialect with the same status.
 */
export async function refusalOf(
  dependencies: RelayDependencies,
  call: Caller,
  { provider, kind, errorDialect, entry, facts, asItIs }: RefusedBy,
  answer: OutboundAnswer,
): Promise<Failure> {
  const { isWhole, read } = await wordsOf(dependencies, provider, answer);
  const { status } = answer;
  const { message, contextLength } = readRefusal(errorDialect, status, read.body);
  const classified = kind.classify(read).with({ contextLength });
  const failure = mayConcernObject(facts, status) ? classified.with({ unhealthy: false, cools: "never" }) : classified;
  if (entry !== undefined && (failure.upstream !== undefined || status >= 500)) entry.refusedWith = message;
  return asItIs === true && isWhole && status < 500 ? failure : inWordsOf(call, errorDialect, failure);
}

/** What may be forbidden or missing is something that the request names or has the vendor fetch, so the deployment is well. */
export function mayConcernObject(facts: RequestFacts | undefined, status: number): boolean {
  if (facts === undefined || (status !== 403 && status !== 404)) return false;
  return facts.continues !== null || facts.mayHoldMedia === true || (facts.objects?.length ?? 0) > 0;
}

/**
 * The status says that it refused. A body that is too long (some quote the whole request) or breaks off is ignored: else it would look
 * like an answer that was lost on the way, which is paid for.
 */
async function wordsOf(
  { providerClient, clock }: RelayDependencies,
  provider: Provider,
  answer: OutboundAnswer,
): Promise<{ readonly isWhole: boolean; readonly read: WholeAnswer }> {
  try {
    const limits = { bytesMax: bounds.errorBodyBytesMax, limitMs: provider.timeouts.idleMs };
    return { isWhole: true, read: await providerClient.read(provider, answer, limits) };
  } catch (thrown) {
    if (!lost.has(asFailure(thrown).code)) throw thrown;
    const { status, headers } = answer;
    return { isWhole: false, read: { status, headers, body: new Uint8Array(0), now: clock.now(), good: false } };
  }
}

const lost: ReadonlySet<Failure["code"]> = new Set([
  "upstream_error",
  "upstream_truncated",
  "upstream_timeout",
] as const);

function inWordsOf(call: Caller, spoken: WireDialectId, failure: Failure): Failure {
  if (failure.upstream === undefined) return failure;
  const { status, body } = failure.upstream;
  if (status >= 500) return overloaded(call, failure);
  if (refusalShape(body) === call.protocol.dialect.errorShape) return failure;
  const refusal = readRefusal(spoken, status, body);
  return said(call, failure, { ...refusal, message: upstreamWords(refusal.message) });
}

/** 529 is Anthropic's own status. */
function overloaded(call: Caller, failure: Failure): Failure {
  const status = call.protocol.dialect.errorShape === "anthropic" ? 529 : 503;
  return said(call, failure, { status, message: failure.message, code: "overloaded", contextLength: false });
}

function said(call: Caller, failure: Failure, refusal: UpstreamRefusal): Failure {
  const body = encoder.encode(call.protocol.dialect.renderRefusal(refusal, call.requestId));
  return failure.with({ upstream: { status: refusal.status, contentType: "application/json", body } });
}

/** An error in a stream, as the refusal with a status that it would have been, with a body in the caller's dialect. */
export function refusalInStream(
  call: Caller,
  { kind, errorDialect, entry }: Pick<RefusedBy, "kind" | "errorDialect" | "entry">,
  told: Failure,
): Failure {
  const safe = inSafeWords(told).with({ arrival: "refused" });
  const { upstream } = told;
  if (upstream === undefined) return safe;
  if (entry !== undefined) entry.refusedWith = told.message;
  const { status } = upstream;
  const body = withSafeWords(upstream.body);
  // The time is for a Retry-After, which only headers hold.
  const failure = kind.classify({ status, headers: new Headers(), body, now: 0 });
  const words = failure.accountFault === null ? { message: safe.message } : {};
  return inWordsOf(call, errorDialect, failure.with({ ...words, contextLength: told.contextLength }));
}

/** A refusal that is an object with an `error`, whose message may name the account. */
function withSafeWords(body: Uint8Array): Uint8Array {
  const refusal = parseObject(decoder.decode(body)) ?? {};
  const error = objectOf(refusal["error"]);
  const message = upstreamWords(textOf(error["message"]) ?? textOf(refusal["error"]) ?? "unknown error");
  return encoder.encode(JSON.stringify({ ...refusal, error: { ...error, message } }));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * What an upstream said, for a caller of another dialect: without keys, and without what names the upstream's account
 * or address. What it said to a caller of its own dialect goes on as it is.
 */
export function upstreamWords(said: string): string {
  return telling.reduce((words, pattern) => words.replace(pattern, "[hidden]"), said.slice(0, wordsMax));
}

/** The same of a failure that was read out of an answer. */
export function inSafeWords(failure: Failure): Failure {
  const words = upstreamWords(failure.message);
  return words === failure.message ? failure : failure.with({ message: words });
}

/** Enough for any explanation; a body that is no error in the vendor's shape may be said whole. */
const wordsMax = 4_096;

const telling: readonly RegExp[] = [
  /\bhttps?:\/\/[^\s"'<>)\]]+/gi,
  /\barn:aws[\w-]*:[^\s"'<>)\]]+/g,
  /\b(?:sk|rk|xai|gsk|pplx|hf)[-_][\w*.-]{6,}/gi,
  /\b(?:AIza|AKIA|ASIA|ya29\.)[\w*.-]{8,}/g,
  /\bBearer\s+[\w*.~+/=-]{8,}/gi,
  /\b(?:org|proj|wrk|acct)[-_][A-Za-z0-9]{6,}/g,
  /\bprojects?[/:][\w:./-]*\d[\w:./-]*/gi,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
];

/**
 * Hides what a failed attempt may show nobody: the secrets of its account, and the credentials that its caller sent. Every
 * failure of an attempt goes by it once, where it leaves the attempt: whole answers, events, frames, logs, explanations.
 */
export function attemptRedactor(provider: Provider, callersHeaders: HeaderReader): Redactor {
  return new Redactor(callersSecrets(callersHeaders), accountRedactor(provider));
}

/** Why an attempt failed, for whoever looks at the request. `said`: what the upstream said of it; null: nothing. */
export function shownWords(redactor: Redactor, { message }: Failure, said: string | null): string {
  return upstreamWords(redactor.text(said === null ? message : `${message} It said: ${said}`));
}

const credentialHeaders = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"] as const;
const secretCharactersMin = 8;

function callersSecrets(headers: HeaderReader): readonly string[] {
  return credentialHeaders
    .flatMap((name) => headers.get(name)?.split(/[\s;,]+/) ?? [])
    .flatMap((part) => [part, part.slice(part.indexOf("=") + 1)])
    .filter((part) => part.length >= secretCharactersMin);
}
