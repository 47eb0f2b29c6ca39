import { type Failure, type HeaderReader, type Provider, Redactor } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";

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
