import { maskSecrets, type Provider } from "#core/index.ts";
import { redactedText, secretsIn, withoutSecrets } from "./setting-secrets.ts";

/**
 * A refusal's body without the account's credential, which some upstreams quote: whole, its beginning, or masked in the
 * middle with its last characters standing ("sk-pr…wxyz"); and without whatever else looks like a key. Every other byte
 * stays: most bodies come back as they are.
 */
export function withoutQuotedKeys(body: Uint8Array, provider: Provider): Uint8Array {
  const said = decoder.decode(body);
  let safe = withoutSecrets(said, provider);
  for (const secret of secretsIn(provider)) safe = withoutFragments(safe, secret);
  safe = maskSecrets(safe);
  return safe === said ? body : encoder.encode(safe);
}

/** What stands for what was left out of a word: stars, dots or an ellipsis. */
const mask = /(?:[*•]{2,}|\.{3,}|…)[*•.…]*/g;
const letter = /[\w-]/;
/** What of a key is too short to tell anything but its vendor. */
const tellingMin = 4;
const beginningMin = 8;
/** A credential that is a document, as Google's are, begins as any other document does. */
const oneWord = /^[^\s"'{}]+$/;

function withoutFragments(text: string, secret: string): string {
  if (secret.length < beginningMin * 2 || !oneWord.test(secret)) return text;
  return withoutBeginnings(withoutMasked(text, secret), secret);
}

/**
 * Each masked word that tells of the key. A word is read from its mask to both sides: a pattern that looks for its
 * beginning would try every letter of a long text that has no mask.
 */
function withoutMasked(text: string, secret: string): string {
  let out = "";
  let from = 0;
  for (const { 0: marks, index } of text.matchAll(mask)) {
    if (index < from) continue;
    let start = index;
    while (start > from && letter.test(text.charAt(start - 1))) start--;
    const tailStart = index + marks.length;
    let end = tailStart;
    while (end < text.length && letter.test(text.charAt(end))) end++;
    if (!reveals(text.slice(start, index), text.slice(tailStart, end), secret)) continue;
    out += text.slice(from, start) + redactedText;
    from = end;
  }
  return out + text.slice(from);
}

function reveals(head: string, tail: string, secret: string): boolean {
  return (tail.length >= tellingMin && secret.endsWith(tail)) || (head.length >= tellingMin && secret.startsWith(head));
}

/** Each place where the key begins and breaks off. */
function withoutBeginnings(text: string, secret: string): string {
  const beginning = secret.slice(0, beginningMin);
  let out = "";
  let from = 0;
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, from)) {
    let end = at + beginningMin;
    while (end < text.length && text[end] === secret[end - at]) end++;
    out += text.slice(from, at) + redactedText;
    from = end;
  }
  return out + text.slice(from);
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();
