import { Failure } from "#core/index.ts";

/**
 * A header such as `form-data; name="image"; filename="a.png"` (RFC 9110, 5.6.6). Names and the first word are in lower case;
 * `escaped`: a parameter has a backslash, which readers do not all read alike. null for whatever two readers could understand in
 * two ways: a name that stands twice, an open quote, text behind a quoted value.
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
    // A semicolon with nothing behind it, as some clients leave at the end.
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

/** A form's boundary, and its content type written so that every reader finds the same one in it. */
export interface MultipartType {
  readonly boundary: string;
  readonly contentType: string;
}

/**
 * `wanted`: what may be sent, for whoever sent something else. Throws Failure unsupported_media_type for another content type,
 * invalid_request for a form without a usable boundary.
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

/** RFC 2046, 5.1.1: at most 70 characters of these, and no blank at the end. */
const boundaryPattern = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a content type says that one JSON value follows: `application/json`, or a type with the suffix `+json` (RFC 6839). */
export function isJsonType(contentType: string): boolean {
  return /^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType);
}

/** Whether it says that server-sent events follow, however it is spelt (RFC 9110, 8.3.1). */
export function isEventStreamType(contentType: string): boolean {
  return contentType.startsWith("text/event-stream") || isOfType(contentType, "text/event-stream");
}

/** The same of Amazon's own framing. */
export function isAwsEventStreamType(contentType: string): boolean {
  return isOfType(contentType, "application/vnd.amazon.eventstream");
}

function isOfType(contentType: string, type: string): boolean {
  // Almost every other type differs in its first letter or its length.
  if (contentType.length < type.length || (contentType.charCodeAt(0) | 0x20) !== type.charCodeAt(0)) return false;
  return contentType.slice(0, type.length).toLowerCase() === type;
}
