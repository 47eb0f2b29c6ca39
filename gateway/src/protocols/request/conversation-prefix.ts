import { asBuffer } from "../json/bytes.ts";
import { COLON, COMMA, OPEN_ARRAY, QUOTE, type Span, skipSpace, stringEnd, valueEnd } from "../json/cursor.ts";
import { skimObject, skimValue } from "../json/skim.ts";
import { sizeOf } from "./members.ts";

/** Shorter prompts are not cached by vendors: about 1,024 tokens. */
const cachedPromptBytesMin = 4 * 1024;
/** By how many messages and texts, and how many bytes of each text, the calls of one conversation are known. */
const prefixMessagesMax = 16;
const prefixTextsMax = 256;
const prefixTextBytesMax = 8 * 1024;

/** Where a body says how its conversation begins; left out where a member is not there. */
export interface ConversationSpans {
  readonly system?: Span | undefined;
  /** A list of messages, oldest first, or one text. */
  readonly messages?: Span | undefined;
}

/**
 * A short text that is the same for each turn of one conversation: a hash of its system prompt and of its messages up to
 * the first one of the user. Only what people and programs wrote counts, so that a cache mark that moves on, or a text that becomes a
 * list of one part, changes nothing. null for a prompt that no vendor would cache, unless it asks for that.
 */
export function conversationFingerprint(body: Uint8Array, { system, messages }: ConversationSpans): string | null {
  const bytes = asBuffer(body);
  const isLong = sizeOf(system, messages) >= cachedPromptBytesMin;
  if (messages === undefined || !(isLong || bytes.includes(cacheMark))) return null;
  const hash = { value: 0n, textsLeft: prefixTextsMax };
  if (system !== undefined) addTexts(hash, bytes, system);
  for (const message of untilUser(bytes, messages)) addTexts(hash, bytes, message);
  return hash.value.toString(36);
}

/** The messages up to the first of the user; what has no role is the user's. */
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

/** Hashes the texts in values, but for members that tell only of their shape. Of a long text its ends and its length count. */
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
