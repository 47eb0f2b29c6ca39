import { bounds } from "#core/index.ts";

/**
 * Why the path of a request, as sent and without its query, is ambiguous; null: it is not.
 *
 * Proxies authorize by path, and each resolves, decodes and normalizes paths in its own way. A path that two of them could read
 * differently is refused.
 */
export function flawOfPath(path: string): string | null {
  const parts = path.slice(1).split("/");
  // One slash at the end is allowed.
  if (parts.length > 1 && parts.at(-1) === "") parts.pop();
  if (path !== "/" && (parts.length > bounds.pathPartsMax || parts.includes(""))) {
    return `It has an empty part, or more than ${bounds.pathPartsMax} parts.`;
  }
  if (!path.startsWith("/")) return "It does not begin with a slash.";
  if (path.includes("%")) {
    if (encodedPlain.test(path)) return "It has a percent-encoded letter, digit, dot, hyphen, underscore or tilde.";
    if (malformed.test(path)) return "It has a percent sign that does not begin an encoded byte.";
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
  if (strange.test(part)) return "It has a backslash, a #, a control character or bytes that are not UTF-8.";
  if (!part.includes("/")) return isDots(part) ? dots : null;
  if (!namesHoldSlashes.some((prefix) => path.startsWith(prefix))) return "It has a percent-encoded slash.";
  return part.split("/").some((one) => one === "" || isDots(one)) ? dots : null;
}

const dots = "It has a part that is empty or consists of dots.";

/** `..;x` is `..` to servers that know parameters of path parts. */
function isDots(part: string): boolean {
  return /^\.\.?(;|$)/.test(part);
}

/** Unreserved characters mean the same encoded or not (RFC 3986, 2.3), so no client needs to encode them. */
const encodedPlain = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i;
const malformed = /%(?![\da-f]{2})/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const strange = /[\\#\u0000-\u001f\u007f\ufffd]/;
/** Below these a part may be a model's name, which may have slashes. */
const namesHoldSlashes = ["/v1/models/", "/v1beta/models/", "/model/", "/api/", "/console/"];
