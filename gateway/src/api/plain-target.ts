import { bounds } from "#core/index.ts";

/**
 * What is wrong with the path of a request's target, in words; null: nothing. As it was sent, without its query.
 *
 * A target has to mean one thing to everybody. Proxies decide by the path who may come through, and each resolves, decodes
 * and joins it in its own way; so whatever two readers could take for two paths is refused.
 */
export function flawOfPath(path: string): string | null {
  const parts = path.slice(1).split("/");
  // One slash at the end is no part of its own.
  if (parts.length > 1 && parts.at(-1) === "") parts.pop();
  if (path !== "/" && (parts.length > bounds.pathPartsMax || parts.includes(""))) {
    return `A part of it is empty, or there are more than ${bounds.pathPartsMax}.`;
  }
  if (!path.startsWith("/")) return "It is no path.";
  if (path.includes("%")) {
    if (encodedPlain.test(path)) return "A letter, digit, dot, hyphen, underscore or tilde is percent-encoded in it.";
    if (malformed.test(path)) return "A percent sign in it does not begin an encoded byte.";
  }
  for (const part of parts) {
    const flaw = flawOfPart(decodedPart(part), path);
    if (flaw !== null) return flaw;
  }
  return null;
}

function decodedPart(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return "\ufffd";
  }
}

function flawOfPart(part: string, path: string): string | null {
  if (strange.test(part)) return "A part of it holds a backslash, a #, a control character or bytes that are no UTF-8.";
  if (!part.includes("/")) return isDots(part) ? dots : null;
  if (!namesHoldSlashes.some((prefix) => path.startsWith(prefix))) return "A slash is percent-encoded in it.";
  return part.split("/").some((one) => one === "" || isDots(one)) ? dots : null;
}

const dots = "A part of it is empty or consists of dots.";

/** `..;x` is `..` to servers that know parameters of path parts. */
function isDots(part: string): boolean {
  return part.charCodeAt(0) === dot && dotsPart.test(part);
}

const dot = 46;
const dotsPart = /^\.\.?(;|$)/;
/** RFC 3986, 2.3: unreserved characters mean the same encoded or not, so that nobody has a reason to encode them. */
const encodedPlain = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i;
const malformed = /%(?![\da-f]{2})/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const strange = /[\\#\u0000-\u001f\u007f\ufffd]/;
/** Below these a part may be a model's name, which may hold slashes. */
const namesHoldSlashes = ["/v1/models/", "/v1beta/models/", "/api/", "/console/"];
