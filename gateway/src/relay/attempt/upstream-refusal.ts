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
  /** Stores its message, unless that is about the account. */
  readonly entry?: { refusedWith: string | null };
  /** If the refusal may concern an object of the request, the deployment is healthy. */
  readonly facts?: RequestFacts;
  /** Returned unchanged: the caller uses this vendor's API. */
  readonly asItIs?: boolean;
}

type Caller = Pick<Call, "requestId" | "protocol">;

/**
 * Classifies a bad answer by the provider's kind. The body is returned unchanged if it is an error of the caller's dialect, else it is
 * rendered in that dialect with the same status.
 */
export async function refusalOf(
  dependencies: RelayDependencies,
  call: Caller,
  { provider, kind, errorDialect, entry, facts, asItIs }: RefusedBy,
  answer: OutboundAnswer,
): Promise<Failure> {
  const { isWhole, read } = await refusalBodyOf(dependencies, provider, answer);
  const { status } = answer;
  const { message, contextLength } = readRefusal(errorDialect, status, read.body);
  const classified = kind.classify(read).with({ contextLength });
  const failure = mayConcernObject(facts, status) ? classified.with({ unhealthy: false, cools: "never" }) : classified;
  if (entry !== undefined && (failure.upstream !== undefined || status >= 500)) entry.refusedWith = message;
  return asItIs === true && isWhole && status < 500 ? failure : inCallersShape(call, errorDialect, failure);
}

/** The forbidden or missing object may be one that the request names or has the vendor fetch, so the deployment is healthy. */
export function mayConcernObject(facts: RequestFacts | undefined, status: number): boolean {
  if (facts === undefined || (status !== 403 && status !== 404)) return false;
  return facts.continues !== null || facts.mayHoldMedia === true || (facts.objects?.length ?? 0) > 0;
}

/**
 * The status shows the refusal. A body that is too long (some quote the whole request) or breaks off is ignored; otherwise it would
 * count as a lost answer, which is charged.
 */
async function refusalBodyOf(
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

function inCallersShape(call: Caller, spoken: WireDialectId, failure: Failure): Failure {
  if (failure.upstream === undefined) return failure;
  const { status, body } = failure.upstream;
  if (status >= 500) return overloaded(call, failure);
  if (refusalShape(body) === call.protocol.dialect.errorShape) return failure;
  const refusal = readRefusal(spoken, status, body);
  return rendered(call, failure, { ...refusal, message: upstreamWords(refusal.message) });
}

/** 529 is Anthropic's own status. */
function overloaded(call: Caller, failure: Failure): Failure {
  const status = call.protocol.dialect.errorShape === "anthropic" ? 529 : 503;
  return rendered(call, failure, { status, message: failure.message, code: "overloaded", contextLength: false });
}

function rendered(call: Caller, failure: Failure, refusal: UpstreamRefusal): Failure {
  const body = encoder.encode(call.protocol.dialect.renderRefusal(refusal, call.requestId));
  return failure.with({ upstream: { status: refusal.status, contentType: "application/json", body } });
}

/** An error in a stream, as the refusal with a status that it would have been, with a body in the caller's dialect. */
export function refusalInStream(
  call: Caller,
  { kind, errorDialect, entry }: Pick<RefusedBy, "kind" | "errorDialect" | "entry">,
  failed: Failure,
): Failure {
  const safe = inSafeWords(failed).with({ arrival: "refused" });
  const { upstream } = failed;
  if (upstream === undefined) return safe;
  if (entry !== undefined) entry.refusedWith = failed.message;
  const { status } = upstream;
  const body = withSafeWords(upstream.body);
  // The time is for a Retry-After, which only headers hold.
  const failure = kind.classify({ status, headers: new Headers(), body, now: 0 });
  const words = failure.accountFault === null ? { message: safe.message } : {};
  return inCallersShape(call, errorDialect, failure.with({ ...words, contextLength: failed.contextLength }));
}

/** The refusal is an object with an `error`. Its message may name the account. */
function withSafeWords(body: Uint8Array): Uint8Array {
  const refusal = parseObject(decoder.decode(body)) ?? {};
  const error = objectOf(refusal["error"]);
  const message = upstreamWords(textOf(error["message"]) ?? textOf(refusal["error"]) ?? "unknown error");
  return encoder.encode(JSON.stringify({ ...refusal, error: { ...error, message } }));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * An upstream's message for callers of another dialect: without keys, and without names of the upstream's account or addresses. Callers
 * of its own dialect get the message unchanged.
 */
export function upstreamWords(message: string): string {
  return accountPatterns.reduce((words, pattern) => words.replace(pattern, "[hidden]"), message.slice(0, wordsMax));
}

/** The same for a failure that was read from an answer. */
export function inSafeWords(failure: Failure): Failure {
  const words = upstreamWords(failure.message);
  return words === failure.message ? failure : failure.with({ message: words });
}

/** Enough for any explanation. The message may be a whole body that is not in the vendor's error shape. */
const wordsMax = 4_096;

const accountPatterns: readonly RegExp[] = [
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
 * Hides the secrets of an attempt's account and the credentials that its caller sent. Every failure passes it once, where it leaves the
 * attempt: whole answers, events, frames, logs, explanations.
 */
export function attemptRedactor(provider: Provider, callersHeaders: HeaderReader): Redactor {
  return new Redactor(callersSecrets(callersHeaders), accountRedactor(provider));
}

/** The reason of a failed attempt, for the request's page. `refusedWith`: the upstream's message; null: none. */
export function shownWords(redactor: Redactor, { message }: Failure, refusedWith: string | null): string {
  return upstreamWords(redactor.text(refusedWith === null ? message : `${message} It said: ${refusedWith}`));
}

const credentialHeaders = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "x-bf-vk", "cookie"] as const;
const secretCharactersMin = 8;

function callersSecrets(headers: HeaderReader): readonly string[] {
  return credentialHeaders
    .flatMap((name) => headers.get(name)?.split(/[\s;,]+/) ?? [])
    .flatMap((part) => [part, part.slice(part.indexOf("=") + 1)])
    .filter((part) => part.length >= secretCharactersMin);
}
