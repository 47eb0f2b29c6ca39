import { charClass, hasVariety, runEnd } from "./characters.ts";
import type { Matches } from "./scan.ts";

/** Values next to a name: `password = "…"`, `"api_key": "…"`, `Authorization: Bearer …`, `postgres://user:password@host`. */

const passwordName = /(?:passwords?|passwd|pwd|passphrase|密码|口令)$/i;
const secretName =
  /(?:(?:api|access|private|secret|signing|encryption|account|master|service|auth|client|subscription|shared)[_-]?keys?|token|secret|credentials?|authorization|密钥|令牌)$/i;
/** How these names end, to skip most places without a pattern. */
const nameEndings = new Set(
  ["key", "eys", "ken", "ret", "ord", "rds", "swd", "pwd", "ase", "ial", "als", "ion"].map((end) => codeOf(end, 3)),
);
const chineseEnding = /[码令钥牌]/;
/** The same in UTF-8. */
const chineseEndings = new Set(["码", "令", "钥", "牌"].map((char) => Buffer.from(char).readUIntBE(0, 3)));
/** Longer than the longest of them. */
const nameLengthMax = 24;
const valueLengthMax = 256;

/** The sign, an optional scheme and quote, and the value. */
const quoted = /(?::=?|=>?)[ \t]{0,4}\\{0,3}["'`](?:(?:bearer|basic|token)[ \t]{1,2})?([^\s"'`\\<>]{1,256})/iy;
const bare =
  /(?::=?|=>?)[ \t]{0,4}(?:\*\*[ \t])?(?:(?:bearer|basic|token)[ \t]{1,2})?([^\s"'`\\<>=,;&(){}[\]|][^\s"'`\\<>,;&(){}[\]|]{0,255})/iy;

/** `sign`: the offset of `:` or `=`. */
export function addAssignment(matches: Matches, sign: number): void {
  const { text } = matches;
  const kind = kindOfName(matches, sign);
  if (kind === null) return;
  const isQuoted = matchAt(quoted, text, sign);
  const value = isQuoted ?? matchAt(bare, text, sign);
  if (value === null) return;
  const end = value.start + value.text.length;
  if (end === text.length && value.text.length < valueLengthMax) matches.pending(value.start);
  const after = text.charAt(end);
  if (isQuoted === null ? /[([{<]/.test(after) : after !== "" && !/["'`\\]/.test(after)) return;
  const written = isQuoted === null ? value.text.replace(/[.:*]+$/, "") : value.text;
  const isSecret = kind === "password" ? isPassword(written, isQuoted !== null) : isSecretValue(written);
  if (isSecret) matches.add(value.start, value.start + written.length, kind, 1);
}

const url = /:\/\/[^\s/:@"'`<>]{0,64}:([^\s/@"'`<>]{1,256})/y;

/** `colon`: the offset of `://`. */
export function addUrlPassword(matches: Matches, colon: number): void {
  const { text } = matches;
  const value = matchAt(url, text, colon);
  if (value === null) return;
  const end = value.start + value.text.length;
  if (end === text.length && value.text.length < valueLengthMax) matches.pending(value.start);
  const user = text.slice(colon + 3, value.start - 1);
  if (text.charAt(end) === "@" && value.text !== user && !isPlaceholder(value.text)) {
    matches.add(value.start, end, "url_password", 1);
  }
}

const scheme = /bearer[ \t]{1,4}/iy;
const bearerToken = /([\w.~+/-]{15,4000}[\w+/-]={0,2})/y;
const bearerTokenMax = 4_003;

/** `at`: the offset of a word that begins with `b`. */
export function addBearerToken(matches: Matches, at: number): void {
  const { text } = matches;
  scheme.lastIndex = at;
  if (!scheme.test(text)) return;
  const start = scheme.lastIndex;
  if (runEnd(text, start, charClass.path, bearerTokenMax + 1) === text.length) matches.pending(start);
  const value = matchAt(bearerToken, text, start)?.text;
  if (value === undefined || !/\d/.test(value) || !hasVariety(value, 8) || words.test(value)) return;
  matches.add(start, start + value.length, "bearer_token", 1);
}

function kindOfName(matches: Matches, sign: number): "password" | "secret" | null {
  const { text } = matches;
  let end = sign;
  const limit = Math.max(0, sign - 12);
  while (end > limit && isBetween(text.charCodeAt(end - 1))) end--;
  if (!nameEndings.has(codeOf(text, end)) && !chineseEnding.test(text.charAt(end - 1))) return null;
  const name = matches.before(end, nameLengthMax);
  if (passwordName.test(name)) return "password";
  return secretName.test(name) ? "secret" : null;
}

/** Bytes that may be escaped twice. */
const betweenBytesMax = 48;

/** Whether the bytes before a sign may be a name for which `addAssignment` finds a value. */
export function endsAsSecretName(bytes: Uint8Array, sign: number): boolean {
  let end = sign;
  const limit = Math.max(0, sign - betweenBytesMax);
  while (end > limit && isBetween(bytes[end - 1] as number)) end--;
  if (end < 3) return false;
  const [first, second, last] = [bytes[end - 3] as number, bytes[end - 2] as number, bytes[end - 1] as number];
  if (last >= 0x80) return chineseEndings.has((first << 16) | (second << 8) | last);
  if (!nameEndings.has(lowerCode(first, second, last))) return false;
  const name = Buffer.from(bytes.subarray(Math.max(0, end - nameLengthMax), end)).toString("latin1");
  return passwordName.test(name) || secretName.test(name);
}

/** Characters between a name and its sign: spaces, quotes, `]` and `**`. */
function isBetween(code: number): boolean {
  return code === 32 || code === 34 || code === 39 || code === 92 || code === 93 || code === 96 || code === 42;
}

/** The three characters before `end`, in any case. */
function codeOf(text: string, end: number): number {
  return lowerCode(text.charCodeAt(end - 3), text.charCodeAt(end - 2), text.charCodeAt(end - 1));
}

function lowerCode(first: number, second: number, last: number): number {
  return ((first | 32) << 16) | ((second | 32) << 8) | last | 32;
}

function matchAt(pattern: RegExp, text: string, at: number): { readonly start: number; readonly text: string } | null {
  pattern.lastIndex = at;
  const value = pattern.exec(text)?.[1];
  return value === undefined ? null : { start: pattern.lastIndex - value.length, text: value };
}

const passwordLengthMin = 6;
const secretLengthMin = 16;

function isPassword(value: string, isQuoted: boolean): boolean {
  if (value.length < passwordLengthMin || isPlaceholder(value) || !hasVariety(value, 4)) return false;
  // Code such as `password = form.password2`.
  if (!isQuoted && /^[a-z_$][\w$]*(?:\??\.[\w$]+)+$/i.test(value)) return false;
  return /\d/.test(value) ? isQuoted || /[^\d.:_/-]/.test(value) : /[!@#$%^&*+?~]/.test(value);
}

function isSecretValue(value: string): boolean {
  if (value.length < secretLengthMin || !/^[\w.+/=~-]+$/.test(value) || isPlaceholder(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value) || !hasVariety(value, 8)) return false;
  return !words.test(value);
}

/** A name of words and small numbers: `projects/main-2/secrets/v1`. */
const words = /^(?:[A-Za-z]+\d{0,2}|\d{1,4})(?:[-_./:~+](?:[A-Za-z]+\d{0,2}|\d{1,4}))*$/;
const placeholder =
  /^(?:[$<{%*#…•]|x{3}|\.{3}|your|my[-_]|change|example|placeholder|redacted|null$|none$|undefined$|process\.|env[.:]|os\.|(?:pass|passwords?|passwd|pwd|secret|token|user|username|key)$)|\$\{|\{\{|\*{3}/i;

function isPlaceholder(value: string): boolean {
  return placeholder.test(value);
}
