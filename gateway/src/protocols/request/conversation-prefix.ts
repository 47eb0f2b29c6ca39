import { asBuffer } from "../json/bytes.ts";
import { COLON, COMMA, OPEN_ARRAY, QUOTE, type Span, skipSpace, stringEnd, valueEnd } from "../json/cursor.ts";
import { skimObject, skimValue } from "../json/skim.ts";

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
}

/**
 * A hash of the system prompt and the messages up to the first of the user, equal for all turns of a conversation. Only texts count, not
 * cache marks or whether content is a list. Null for prompts too short to be cached, unless they ask for caching.
 */
export function conversationFingerprint(body: Uint8Array, { system, messages }: ConversationSpans): string | null {
  const bytes = asBuffer(body);
  if (messages === undefined || !(isLongPrompt({ system, messages }) || bytes.includes(cacheMark))) return null;
  const hash = { value: 0n, textsLeft: prefixTextsMax };
  if (system !== undefined) addTexts(hash, bytes, system);
  for (const message of untilUser(bytes, messages)) addTexts(hash, bytes, message);
  return hash.value.toString(36);
}

/** Whether it is long enough to be cached by vendors. */
export function isLongPrompt({ system, messages }: ConversationSpans): boolean {
  let size = messages === undefined ? 0 : messages.end - messages.start;
  if (system !== undefined) size += system.end - system.start;
  return size >= cachedPromptBytesMin;
}

/** A message without a role is the user's. */
function* untilUser(bytes: Buffer, messages: Span): Iterable<Span> {
  if (bytes[messages.start] !== OPEN_ARRAY) {
    yield messages;
    return;
  }
  let start = skipSpace(bytes, messages.start + 1);
  for (let count = 0; count < prefixMessagesMax && start < messages.end; count++) {
    const end = valueEnd(bytes, start);
    yield { start, end };
    const role = skimValue(bytes, skimObject(bytes, start, end, roleOnly)?.get("role")) ?? "user";
    const comma = skipSpace(bytes, end);
    if (role === "user" || bytes[comma] !== COMMA) return;
    start = skipSpace(bytes, comma + 1);
  }
}

/** Hashes the texts in a value except members of its form. Of a long text only both ends and the length count. */
function addTexts(hash: { value: bigint; textsLeft: number }, bytes: Buffer, { start, end }: Span): void {
  for (let at = start; at < end && hash.textsLeft > 0; ) {
    if (bytes[at] !== QUOTE) {
      at++;
      continue;
    }
    const textEnd = stringEnd(bytes, at);
    const colon = skipSpace(bytes, textEnd);
    if (bytes[colon] === COLON) {
      const value = skipSpace(bytes, colon + 1);
      at = shape.has(bytes.toString("latin1", at + 1, textEnd - 1)) ? Math.max(value, valueEnd(bytes, value)) : value;
      continue;
    }
    const text = bytes.subarray(at + 1, textEnd - 1);
    const half = prefixTextBytesMax / 2;
    const isShort = text.length <= 2 * half;
    hash.textsLeft--;
    hash.value = Bun.hash.wyhash(isShort ? text : text.subarray(0, half), hash.value);
    if (!isShort) hash.value = Bun.hash.wyhash(text.subarray(-half), hash.value ^ BigInt(text.length));
    at = textEnd;
  }
}

const shape: ReadonlySet<string> = new Set(["type", "role", "cache_control", "id", "status"]);
const roleOnly: ReadonlySet<string> = new Set(["role"]);
const cacheMark = Buffer.from('"cache_control"');
