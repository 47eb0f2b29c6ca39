import { type Failure, type HeaderReader, type Provider, Redactor } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import { upstreamWords } from "./upstream-words.ts";

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
