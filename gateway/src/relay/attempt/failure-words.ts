import { type HeaderReader, type Provider, secretsOf, withoutSecrets } from "#core/index.ts";
import { upstreamWords } from "./upstream-words.ts";

/**
 * Why an attempt failed, for whoever looks at the request. An upstream may quote what it was sent or what it knows of
 * the account: the credentials of caller and account are taken out by value, others by their looks.
 */
export function failureWords(
  message: string,
  said: string | null,
  from: { headers: HeaderReader; provider: Provider },
): string {
  const words = said === null ? message : `${message} It said: ${said}`;
  return upstreamWords(withoutSecrets(words, [...secretsOf(from.provider), ...callerSecrets(from.headers)]));
}

const credentialHeaders = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"] as const;
const secretCharactersMin = 8;

function callerSecrets(headers: HeaderReader): readonly string[] {
  return credentialHeaders
    .flatMap((name) => headers.get(name)?.split(/[\s;,]+/) ?? [])
    .flatMap((part) => [part, part.slice(part.indexOf("=") + 1)])
    .filter((part) => part.length >= secretCharactersMin);
}
