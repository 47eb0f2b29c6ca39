import { asBuffer } from "../json/bytes.ts";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  type LongStrings,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  skipSpace,
  stringEnd,
  valueEnd,
} from "../json/cursor.ts";
import { skimValue } from "../json/skim.ts";

/** Vendors do not cache shorter prompts: about 1,024 tokens. */
const cachedPromptBytesMin = 4 * 1024;
/** Limits of what identifies a conversation. */
const prefixMessagesMax = 16;
const prefixTextsMax = 256;
const prefixTextBytesMax = 8 * 1024;

/** Spans of the members with which a conversation begins. */
export interface ConversationSpans {
  readonly system?: Span | undefined;
  /** Messages, oldest first, or one text. */
  readonly messages?: Span | undefined;
  readonly longStrings: LongStrings | null;
}

/**
 * A hash of the system prompt and the messages up to the first of the user, equal for all turns of a conversation. Only texts count, not
 * cache marks or whether content is a list. Null for prompts too short to be cached, unless they ask for caching.
 */
export function conversationFingerprint(body: Uint8Array, spans: ConversationSpans): string | null {
  const bytes = asBuffer(body);
  const { system, messages } = spans;
  if (messages === undefined || !(isLongPrompt(spans) || bytes.includes(cacheMark))) return null;
  const prefix = new Prefix(bytes, spans.longStrings);
  if (system !== undefined) prefix.add(system.start);
  if (bytes[messages.start] !== OPEN_ARRAY) prefix.add(messages.start);
  else prefix.addUntilUser(messages);
  return prefix.hash.toString(36);
}

/** Whether it is long enough to be cached by vendors. */
export function isLongPrompt({ system, messages }: ConversationSpans): boolean {
  let size = messages === undefined ? 0 : messages.end - messages.start;
  if (system !== undefined) size += system.end - system.start;
  return size >= cachedPromptBytesMin;
}

class Prefix {
  hash = 0n;
  readonly #bytes: Buffer;
  readonly #longStrings: LongStrings | null;
  #textsLeft = prefixTextsMax;
  /** The role in the object that was added last. */
  #role: unknown = null;

  constructor(bytes: Buffer, longStrings: LongStrings | null) {
    this.#bytes = bytes;
    this.#longStrings = longStrings;
  }

  /** A message without a role is the user's. */
  addUntilUser(messages: Span): void {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, messages.start + 1);
    for (let count = 0; count < prefixMessagesMax && at < messages.end && this.#textsLeft > 0; count++) {
      const comma = skipSpace(bytes, this.add(at));
      if ((this.#role ?? "user") === "user" || bytes[comma] !== COMMA) return;
      at = skipSpace(bytes, comma + 1);
    }
  }

  /** Hashes the texts in the value at `from`, except members of its form. Returns the index after the value, or after the last text. */
  add(from: number): number {
    const bytes = this.#bytes;
    let depth = 0;
    this.#role = null;
    for (let at = from; at < bytes.length; ) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        const textEnd = stringEnd(bytes, at, bytes.length, this.#longStrings);
        const colon = skipSpace(bytes, textEnd);
        if (bytes[colon] === COLON) {
          at = this.#pastName(bytes.toString("latin1", at + 1, textEnd - 1), skipSpace(bytes, colon + 1), depth);
          continue;
        }
        this.#addText(bytes.subarray(at + 1, textEnd - 1));
        at = textEnd;
        if (depth === 0 || this.#textsLeft === 0) return at;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth++;
        at++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        at++;
        if (--depth === 0) return at;
      } else if (depth === 0) return valueEnd(bytes, at);
      else at++;
    }
    return bytes.length;
  }

  /** Returns the start of the member's value, or its end if it has no texts to add. */
  #pastName(name: string, value: number, depth: number): number {
    if (!shape.has(name)) return value;
    const end = valueEnd(this.#bytes, value);
    if (name === "role" && depth === 1) this.#role = skimValue(this.#bytes, { start: value, end });
    return end;
  }

  /** Of a long text only both ends and the length count. */
  #addText(text: Buffer): void {
    const half = prefixTextBytesMax / 2;
    const isShort = text.length <= 2 * half;
    this.#textsLeft--;
    this.hash = Bun.hash.wyhash(isShort ? text : text.subarray(0, half), this.hash);
    if (!isShort) this.hash = Bun.hash.wyhash(text.subarray(-half), this.hash ^ BigInt(text.length));
  }
}

const shape: ReadonlySet<string> = new Set(["type", "role", "cache_control", "id", "status"]);
const cacheMark = Buffer.from('"cache_control"');
