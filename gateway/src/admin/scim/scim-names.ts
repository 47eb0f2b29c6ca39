import { bounds, Failure } from "#core/index.ts";

/**
 * Throws request_too_large for a large body with more different names than any directory sends. To make each of a hundred thousand
 * names known takes a parser longer than a call may hold up others; the same few names over and over, as of a group's members, do not.
 */
export function refuseManyNames(text: string): void {
  if (text.length <= bounds.scimNamesFreeCharacters) return;
  const names = new Set<string>();
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfText(text, at + 1);
    if (end === -1) return;
    const next = behindSpace(text, end + 1);
    // What a colon follows is a name.
    if (text.charCodeAt(next) === 0x3a && names.add(text.slice(at + 1, end)).size > bounds.scimNamesMax) {
      throw new Failure(
        "request_too_large",
        `A body has at most ${bounds.scimNamesMax} different names of attributes.`,
      );
    }
    at = next;
  }
}

/** Where the quotation mark is that ends a text; -1: it does not end. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = end;
    while (slashes > start && text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    if ((end - slashes) % 2 === 0) return end;
  }
  return -1;
}

function behindSpace(text: string, start: number): number {
  let at = start;
  // JSON's four kinds of white space, and other control characters, which the parser refuses.
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}
