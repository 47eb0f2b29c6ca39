import type { Matches } from "./scan.ts";

/** A private key in PEM, complete or cut off; its line breaks may be escaped, or joined by code. */

export const pemStart = "-----BEGIN ";
const header = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
const headerOpening = /-----BEGIN [A-Z0-9 ]{0,100}-{0,5}$/y;
const footer = /-----END [A-Z0-9 ]{1,100}-----/y;
const footerOpening = /(?:-{1,5}|-----E|-----EN|-----END|-----END [A-Z0-9 ]{0,100}-{0,5})$/y;
/** Lines such as `Proc-Type: 4,ENCRYPTED`. */
const headerLines =
  /(?:(?:\\[nr]|[\s"'+>|\\]){0,16}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\n\\]{0,200}){1,8}/y;
const headerLine = /[^\n]{0,220}$/y;
/** The bound of what a stream holds back. Of a longer key, this much is found. */
const body = /[A-Za-z0-9+/=\s\\"'>|]{1,16384}/y;
/** A mention in prose has no line of base64. */
const base64Line = /[A-Za-z0-9+/=]{32}/;

export function addPrivateKey(matches: Matches, at: number): void {
  const { text } = matches;
  const headerEnd = endOf(header, text, at);
  if (headerEnd === -1) {
    if (endOf(headerOpening, text, at) !== -1) matches.pending(at);
    return;
  }
  const bodyStart = Math.max(headerEnd, endOf(headerLines, text, headerEnd));
  const end = Math.max(bodyStart, endOf(body, text, bodyStart));
  const hasKey = base64Line.test(text.slice(bodyStart, end));
  const footerEnd = endOf(footer, text, end);
  const isOpen =
    end === text.length ||
    (footerEnd === -1 && endOf(footerOpening, text, end) !== -1) ||
    (!hasKey && endOf(headerLine, text, end) !== -1);
  if (isOpen) matches.pending(at);
  if (!hasKey) return;
  const keyEnd = footerEnd === -1 ? bodyStart + text.slice(bodyStart, end).trimEnd().length : footerEnd;
  matches.add(at, keyEnd, "private_key");
}

/** The end of the match at this place, or -1. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}
