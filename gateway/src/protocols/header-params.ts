/** One parameter of a header. `escaped`: it was written with a backslash, which readers do not all read alike. */
interface HeaderParam {
  readonly value: string;
  readonly escaped: boolean;
}

/** A header such as `form-data; name="image"; filename="a.png"`. Names and the first word are in lower case. */
export interface HeaderValue {
  readonly word: string;
  readonly params: ReadonlyMap<string, HeaderParam>;
}

/**
 * Reads a word with parameters (RFC 9110, 5.6.6). null for whatever two readers could understand in two ways: a name
 * that stands twice, an open quote, text behind a quoted value.
 */
export function readHeaderValue(text: string): HeaderValue | null {
  const word = wordPattern.exec(text)?.[0];
  if (word === undefined) return null;
  const params = new Map<string, HeaderParam>();
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

function readParam(token: string | undefined, quoted: string | undefined): HeaderParam {
  if (quoted === undefined) return { value: token ?? "", escaped: false };
  return { value: quoted.replace(/\\(["\\])/g, "$1"), escaped: quoted.includes("\\") };
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quotedText = String.raw`"((?:[^"\\\u0000-\u0008\u000a-\u001f\u007f]|\\[^\u0000-\u001f\u007f])*)"`;
const wordPattern = new RegExp(`^${token}(?:/${token})?[ \\t]*`);
const paramPattern = new RegExp(`;[ \\t]*(?:(${token})=(?:(${token})|${quotedText})[ \\t]*)?`, "y");
