import { Failure } from "#core/index.ts";

/**
 * Parses a header such as `form-data; name="image"; filename="a.png"` (RFC 9110, 5.6.6). `escaped`: the parameter has a backslash, which
 * readers treat differently. Null for anything ambiguous: duplicate names, an open quote, text after a quoted value.
 */
export function readHeaderValue(text: string) {
  const word = wordPattern.exec(text)?.[0];
  if (word === undefined) return null;
  const params = new Map<string, ReturnType<typeof readParam>>();
  let at = word.length;
  while (at < text.length) {
    paramPattern.lastIndex = at;
    const match = paramPattern.exec(text);
    if (match === null) return null;
    at = paramPattern.lastIndex;
    const name = match[1]?.toLowerCase();
    // Some clients leave a trailing semicolon.
    if (name === undefined) continue;
    if (params.has(name)) return null;
    params.set(name, readParam(match[2], match[3]));
  }
  return { word: word.trim().toLowerCase(), params };
}

function readParam(token: string | undefined, quoted: string | undefined) {
  if (quoted === undefined) return { value: token ?? "", escaped: false };
  return { value: quoted.replace(/\\(["\\])/g, "$1"), escaped: quoted.includes("\\") };
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quotedText = String.raw`"((?:[^"\\\u0000-\u0008\u000a-\u001f\u007f]|\\[^\u0000-\u001f\u007f])*)"`;
const wordPattern = new RegExp(`^${token}(?:/${token})?[ \\t]*`);
const paramPattern = new RegExp(`;[ \\t]*(?:(${token})=(?:(${token})|${quotedText})[ \\t]*)?`, "y");

/** The boundary, and the content type rewritten without ambiguity. */
export interface MultipartType {
  readonly boundary: string;
  readonly contentType: string;
}

/**
 * `wanted`: the error text for another content type. Throws Failure unsupported_media_type, or invalid_request without a usable boundary.
 */
export function readMultipartType(contentType: string | null, wanted: string): MultipartType {
  if (contentType === null || !/^multipart\/form-data(?![^\s;])/i.test(contentType)) {
    throw new Failure("unsupported_media_type", wanted);
  }
  const boundary = readHeaderValue(contentType)?.params.get("boundary");
  if (boundary === undefined || boundary.escaped || !boundaryPattern.test(boundary.value)) {
    throw new Failure("invalid_request", "The content type of the form names no valid boundary.", {
      param: "content-type",
    });
  }
  const { value } = boundary;
  const written = tokenPattern.test(value) ? value : `"${value}"`;
  return { boundary: value, contentType: `multipart/form-data; boundary=${written}` };
}

/** RFC 2046, 5.1.1. */
const boundaryPattern = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** `application/json`, or a type with the suffix `+json` (RFC 6839). */
export function isJsonType(contentType: string): boolean {
  return contentType === "application/json" || /^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType);
}

/** Whether the content type is server-sent events (RFC 9110, 8.3.1). */
export function isEventStreamType(contentType: string): boolean {
  return contentType.startsWith("text/event-stream") || isOfType(contentType, "text/event-stream");
}

export function isAwsEventStreamType(contentType: string): boolean {
  return isOfType(contentType, "application/vnd.amazon.eventstream");
}

function isOfType(contentType: string, type: string): boolean {
  // Fast path: most other types differ in the first letter or length.
  if (contentType.length < type.length || (contentType.charCodeAt(0) | 0x20) !== type.charCodeAt(0)) return false;
  return contentType.slice(0, type.length).toLowerCase() === type;
}
