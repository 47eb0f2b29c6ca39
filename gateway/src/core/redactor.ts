import { Failure } from "./failure.ts";
import { tokenRules } from "./token-rules.ts";

export const redactedText = "[redacted]";

/**
 * Removes secrets from text of upstreams: complete ones, any part of 12 characters, a beginning of 8, also if escaped for JSON,
 * URL-encoded, in base64 or masked in the middle ("sk-pr…wxyz"); and everything that has the form of a credential. Searches a text once
 * for all secrets.
 */
export class Redactor {
  readonly #parts = new Map<string, Place[]>();
  /** The first two characters of each part, one bit per pair, to skip most of a text quickly. */
  readonly #pairs = new Uint8Array(8_192);
  /** Secrets that are searched only as a whole: short ones, and JSON documents, whose beginnings are alike. */
  readonly #whole: string[] = [];
  readonly #words: string[] = [];
  readonly #base: Redactor | null;

  /** `base` searches for more secrets. It is shared where building it again would be expensive. */
  constructor(secrets: Iterable<string>, base: Redactor | null = null) {
    this.#base = base;
    for (const secret of new Set(secrets)) this.#add(secret);
  }

  text(text: string): string {
    const spans = this.#spans(text, 0);
    return maskSecrets(spans.length === 0 ? text : replaced(text, inOrder(spans)));
  }

  /** Returns the same bytes if there is nothing to hide. */
  bytes(bytes: Uint8Array): Uint8Array {
    const text = decoder.decode(bytes);
    const safe = this.text(text);
    return safe === text ? bytes : encoder.encode(safe);
  }

  /** Searches known secrets only, because request ids have the form of credentials. */
  header(value: string): string {
    const spans = this.#found(value);
    return spans.length === 0 ? value : replaced(value, inOrder(spans));
  }

  /** Redacts everything of a failure that may be shown or logged. */
  failure(failure: Failure): Failure {
    const { message, param, upstream, cause } = failure;
    const safe = {
      message: this.text(message),
      param: param === null ? null : this.text(param),
      upstream:
        upstream === undefined
          ? undefined
          : { ...upstream, contentType: this.header(upstream.contentType), body: this.bytes(upstream.body) },
      cause: this.#cause(cause),
    };
    const isSame =
      safe.message === message &&
      safe.param === param &&
      safe.cause === cause &&
      safe.upstream?.body === upstream?.body &&
      safe.upstream?.contentType === upstream?.contentType;
    return isSame ? failure : failure.with(safe);
  }

  #cause(cause: unknown): unknown {
    if (cause instanceof Failure) return this.failure(cause);
    if (!(cause instanceof Error)) return typeof cause === "string" ? this.text(cause) : cause;
    const message = this.text(cause.message);
    const inner = this.#cause(cause.cause);
    if (message === cause.message && inner === cause.cause) return cause;
    const safe = new Error(message, { cause: inner });
    safe.name = cause.name;
    safe.stack = cause.stack === undefined ? message : this.text(cause.stack);
    return safe;
  }

  #add(secret: string): void {
    if (secret.length < secretLengthMin) return;
    if (secret.length < partLength || secret.startsWith("{")) {
      this.#whole.push(secret);
      return;
    }
    if (/^\S+$/.test(secret) && secret.length >= partLength * 2) this.#words.push(secret);
    for (const form of formsOf(secret)) {
      for (let at = 0; at + partLength <= form.length; at += partStep) this.#addPart(form, at);
    }
  }

  #addPart(form: string, at: number): void {
    const part = form.slice(at, at + partLength);
    const places = this.#parts.get(part);
    if (places !== undefined) {
      if (places.length < placesMax) places.push({ form, at });
      return;
    }
    this.#parts.set(part, [{ form, at }]);
    const pair = pairAt(part, 0);
    this.#pairs[pair >> 3] = (this.#pairs[pair >> 3] ?? 0) | (1 << (pair & 7));
  }

  /** Also searches decoded text, up to three levels: `%73k-…`, `\u0073k-…`, UTF-16. */
  #spans(text: string, depth: number): Span[] {
    const spans = this.#found(text);
    const decoded = depth < decodesMax ? decode(text) : null;
    if (decoded === null) return spans;
    for (const { start, end } of this.#spans(decoded.text, depth + 1)) {
      spans.push({ start: decoded.places[start] ?? text.length, end: decoded.places[end] ?? text.length });
    }
    return spans;
  }

  #found(text: string): Span[] {
    const spans: Span[] = this.#base === null ? [] : this.#base.#found(text);
    for (const secret of this.#whole) {
      for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
        spans.push({ start: at, end: at + secret.length });
      }
    }
    if (this.#words.length > 0 && maskStart.test(text)) {
      for (const secret of this.#words) addMasked(text, secret, spans);
    }
    for (let at = 0; at + partLength <= text.length; at++) {
      const pair = pairAt(text, at);
      if (((this.#pairs[pair >> 3] ?? 0) & (1 << (pair & 7))) === 0) continue;
      const places = this.#parts.get(text.slice(at, at + partLength));
      if (places === undefined) continue;
      const matches = places
        .map((place) => widest(text, at, place))
        .filter(({ start, end, isBeginning }) => isBeginning || end - start >= matchLengthMin);
      spans.push(...matches);
      at = Math.max(at, ...matches.map(({ end }) => end - partLength));
    }
    return spans;
  }
}

/** Position of a part in one form of a secret. */
interface Place {
  readonly form: string;
  readonly at: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Shorter secrets occur in any text. */
const secretLengthMin = 4;
const partLength = 8;
/** A shorter match, except at the beginning of a secret, may be an ordinary word. */
const matchLengthMin = 12;
/** Any twelve characters of a secret contain a part that starts at a multiple of four. */
const partStep = 4;
/** Positions of a part that repeats in a secret. */
const placesMax = 16;
const decodesMax = 3;

/** The ways a secret may be written, without the scheme of a URL. */
function formsOf(secret: string): ReadonlySet<string> {
  const bare = secret.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").toWellFormed();
  const forms = [bare, JSON.stringify(bare).slice(1, -1), encodeURIComponent(bare)];
  const bytes = Buffer.from(bare);
  // In base64 text before it, such as a user name, shifts it by up to two bytes.
  for (const [ahead, changed] of [
    [0, 0],
    [1, 2],
    [2, 3],
  ] as const) {
    const whole = Buffer.concat([Buffer.alloc(ahead), bytes]);
    const text = whole.toString("base64url").slice(changed, whole.length % 3 === 0 ? undefined : -1);
    forms.push(text, text.replaceAll("-", "+").replaceAll("_", "/"));
  }
  return new Set(forms.filter((form) => form.length >= partLength));
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 255) << 8) | (text.charCodeAt(at + 1) & 255);
}

/** Extends a match to both sides. */
function widest(text: string, at: number, { form, at: formAt }: Place): Span & { readonly isBeginning: boolean } {
  let before = 0;
  while (before < Math.min(at, formAt) && text[at - before - 1] === form[formAt - before - 1]) before++;
  let after = partLength;
  while (formAt + after < form.length && text[at + after] === form[formAt + after]) after++;
  return { start: at - before, end: at + after, isBeginning: before === formAt };
}

/** Stars, dots or an ellipsis that mask a part of a word. */
const mask = /(?:[*•]{2,}|\.{3,}|…)[*•.…]*/g;
const maskStart = /[*•…]|\.{3}/;
const wordCharacter = /[\w-]/;
/** Shorter parts of a key reveal only its vendor. */
const revealedLengthMin = 4;

/**
 * Finds masked words that reveal a part of the secret. Reads from the mask to both sides, because a pattern would be slow on long texts
 * without a mask.
 */
function addMasked(text: string, secret: string, spans: Span[]): void {
  let from = 0;
  for (const { 0: marks, index } of text.matchAll(mask)) {
    if (index < from) continue;
    let start = index;
    while (start > from && wordCharacter.test(text.charAt(start - 1))) start--;
    const tailStart = index + marks.length;
    let end = tailStart;
    while (end < text.length && wordCharacter.test(text.charAt(end))) end++;
    const head = text.slice(start, index);
    const tail = text.slice(tailStart, end);
    const isRevealing =
      (tail.length >= revealedLengthMin && secret.endsWith(tail)) ||
      (head.length >= revealedLengthMin && secret.startsWith(head));
    if (isRevealing) spans.push({ start, end });
    from = end;
  }
}

const escapes = /%[0-9a-f]{2}|\\+u[0-9a-f]{4}|\\+\/|\0/gi;

/** Decodes escapes and returns the original position of each character. null if there are none. */
function decode(text: string): { readonly text: string; readonly places: Uint32Array } | null {
  if (!/[%\\\0]/.test(text)) return null;
  let out = "";
  let from = 0;
  const places = new Uint32Array(text.length + 1);
  const copy = (until: number): void => {
    for (let at = from; at < until; at++) places[out.length + at - from] = at;
    out += text.slice(from, until);
  };
  for (const { 0: written, index } of text.matchAll(escapes)) {
    copy(index);
    places[out.length] = index;
    if (written.endsWith("/")) out += "/";
    else if (written !== "\0") out += String.fromCharCode(Number.parseInt(written.replace(/^%|^.*u/, ""), 16));
    from = index + written.length;
  }
  if (from === 0) return null;
  copy(text.length);
  places[out.length] = text.length;
  return { text: out, places };
}

function inOrder(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((a, b) => a.start - b.start);
}

/** `spans` are sorted by start. */
function replaced(text: string, spans: readonly Span[]): string {
  let out = "";
  let from = 0;
  let isOpen = false;
  for (const { start, end } of spans) {
    if (start > from || !isOpen) out += text.slice(from, Math.max(from, start)) + redactedText;
    from = Math.max(from, end);
    isOpen = true;
  }
  return out + text.slice(from);
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Names of members and fields that hold a credential. */
const secretNames =
  "(?:(?:api|access|private|secret|signing|encryption)[_-]?keys?|(?:access|refresh|auth|id|session|bearer|security)[_-]?token|secret|passwords?|passwd|passphrase|credentials?|authorization)";

/** Starts of vendors' tokens. Left out: starts of ordinary words, and starts with a format below. */
const vendorStarts = tokenRules
  .flatMap(({ starts }) => starts)
  .filter((start) => !/^(?:sk-|SK$|eyJ|secret_)/.test(start))
  .map((start) => RegExp.escape(start))
  .join("|");

/** Formats of credentials, for text that may contain any: logs, captures, upstream messages. */
const credentialFormats: readonly (readonly [RegExp, string])[] = [
  // Private keys, complete or truncated; line breaks may be written as \n.
  [
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----BEGIN)[\s\S]){0,16384}?-----END [A-Z0-9 ]*-----/g,
    "[redacted]",
  ],
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]{16,})*/g, "[redacted]"],
  [/\bsk-[\w*-]{4,}/g, "sk-[redacted]"],
  // Vendors' tokens, also with a changed format or masked in the middle. A digit or `*` shows that it is no ordinary word; the limit of the
  // search for it keeps the time linear.
  [new RegExp(`\\b(?:${vendorStarts})(?=[A-Za-z_.~+/=-]{0,100}[\\d*])[\\w.~+/=*-]{12,}`, "g"), "[redacted]"],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, "[redacted]"],
  [/\b(bearer|basic) +[\w.~+/=-]{6,}/gi, "$1 [redacted]"],
  [/(:\/\/[^\s/:@"]*:)[^\s/@"]+@/g, "$1[redacted]@"],
  // JSON members and form fields with such names; the first one in JSON inside a JSON string.
  [new RegExp(`(\\\\+"[\\w-]{0,64}?${secretNames}\\\\+"\\s*:\\s*\\\\+")[^"\\\\]+`, "gi"), "$1[redacted]"],
  [new RegExp(`("[\\w-]{0,64}?${secretNames}"\\s*:\\s*")(?:[^"\\\\]|\\\\.)+`, "gi"), "$1[redacted]"],
  [new RegExp(`((?<![\\w-])[\\w-]{0,64}?${secretNames}=)[^&\\s"'\\\\]+`, "gi"), "$1[redacted]"],
  [/([?&](?:key|api_?key|token|access_token|x-amz-signature|sig(?:nature)?)=)[^&\s"']+/gi, "$1[redacted]"],
];

/** Masks keys, bearer tokens, private keys and passwords in URLs. */
export function maskSecrets(text: string): string {
  return credentialFormats.reduce((masked, [format, replacement]) => masked.replace(format, replacement), text);
}
