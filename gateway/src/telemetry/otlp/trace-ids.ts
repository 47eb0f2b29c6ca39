/**
 * Ids of traces and spans follow from our own. `req_01KX4…` holds 130 bits, of which the last 60 are random, as W3C Trace Context asks of
 * the last seven bytes: all but two of them are the trace's id. Other texts are hashed.
 */
export function traceIdFrom(id: string): string {
  return hex(traceWordsOf(id));
}

export function spanIdFrom(id: string): string {
  return hex(spanWordsOf(id));
}

/** The 16 bytes of it, most significant word first. To be read before the next id is asked for. */
export function traceWordsOf(id: string): Int32Array {
  if (readOwn(id)) return traceWords;
  last = null;
  for (let word = 0; word < traceWords.length; word++) traceWords[word] = hashed(id, word + 1);
  return traceWords;
}

/** The 8 bytes of it. No span has the last half of its trace's id: whoever reads them would take it for that. */
export function spanWordsOf(id: string): Int32Array {
  if (readOwn(id)) {
    spanWords[0] = ~(traceWords[2] ?? 0) || 1;
    spanWords[1] = ~(traceWords[3] ?? 0) || 1;
  } else {
    spanWords[0] = hashed(id, 5);
    spanWords[1] = hashed(id, 6);
  }
  return spanWords;
}

const traceWords = new Int32Array(4);
const spanWords = new Int32Array(2);
/** The one of ours whose words stand there: the log, a record and a span ask for the same one after the other. */
let last: string | null = null;
const prefixLength = 4;
const ownLength = prefixLength + 26;

/** False: it is none of ours. */
function readOwn(id: string): boolean {
  if (id === last) return true;
  if (id.length !== ownLength) return false;
  const a = thirtyBits(id, prefixLength);
  const b = thirtyBits(id, prefixLength + 6);
  const c = thirtyBits(id, prefixLength + 12);
  const d = thirtyBits(id, prefixLength + 18);
  const e = (digit(id, ownLength - 2) << 5) | digit(id, ownLength - 1);
  if ((a | b | c | d | e) < 0) return false;
  traceWords[0] = (a << 4) | (b >>> 26) || 1;
  traceWords[1] = (b << 6) | (c >>> 24) || 1;
  traceWords[2] = (c << 8) | (d >>> 22);
  traceWords[3] = (d << 10) | e;
  last = id;
  return true;
}

/** Of six digits. Negative where one is none. */
function thirtyBits(id: string, at: number): number {
  const first = (digit(id, at) << 25) | (digit(id, at + 1) << 20) | (digit(id, at + 2) << 15);
  return first | (digit(id, at + 3) << 10) | (digit(id, at + 4) << 5) | digit(id, at + 5);
}

/** Crockford's base 32; -1: it is no digit. */
function digit(id: string, at: number): number {
  return digits[id.charCodeAt(at) & 127] ?? -1;
}

const digits = new Int8Array(128).fill(-1);
for (const [value, letter] of [..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"].entries()) digits[letter.charCodeAt(0)] = value;

/** Never zero, which would be no id. */
function hashed(id: string, seed: number): number {
  return Bun.hash.murmur32v3(id, seed) | 0 || 1;
}

/** One text, and not one that is put together of many when somebody reads it. */
function hex(words: Int32Array): string {
  for (let place = 0; place < words.length; place++) hexBytes.writeInt32BE(words[place] as number, place * 4);
  return hexBytes.toString("hex", 0, words.length * 4);
}

const hexBytes = Buffer.alloc(16);
