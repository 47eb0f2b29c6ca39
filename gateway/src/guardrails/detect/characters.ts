/** Classes of ASCII characters as bits, so that a scan needs one lookup for each character. */
export const charClass = { word: 1, token: 2, dotted: 4, path: 8, email: 16, digit: 32 } as const;

/** Latin characters with accents belong to words. Other alphabets do not, so that a number next to Chinese is found. */
const tableLength = 0x250;
const classes = new Uint16Array(tableLength);
for (let code = 0; code < tableLength; code++) {
  const text = String.fromCharCode(code);
  const isWord = /[A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]/.test(text);
  if (isWord) classes[code] = charClass.word | charClass.email;
  if (/[\w-]/.test(text)) add(code, charClass.token | charClass.dotted | charClass.path);
  if (text === ".") add(code, charClass.dotted | charClass.path);
  if (/[/+=:~%]/.test(text)) add(code, charClass.path);
  if (/[.%+-]/.test(text)) add(code, charClass.email);
  if (/\d/.test(text)) add(code, charClass.digit);
}

function add(code: number, bits: number): void {
  classes[code] = (classes[code] ?? 0) | bits;
}

export function isOf(bit: number, code: number): boolean {
  return code < tableLength && ((classes[code] ?? 0) & bit) !== 0;
}

/** Whether `at` is not within a word. */
export function isWordStart(text: string, at: number): boolean {
  return at === 0 || !isOf(charClass.word, text.charCodeAt(at - 1));
}

/** The end of the run of such characters, at most `max` characters after `at`. */
export function runEnd(text: string, at: number, bit: number, max: number): number {
  const limit = Math.min(text.length, at + max);
  let end = at;
  while (end < limit && isOf(bit, text.charCodeAt(end))) end++;
  return end;
}

/** The start of the run of such characters before `at`, at most `max` characters before it. */
export function runStart(text: string, at: number, bit: number, max: number): number {
  const limit = Math.max(0, at - max);
  let start = at;
  while (start > limit && isOf(bit, text.charCodeAt(start - 1))) start--;
  return start;
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** Whether the first characters of a text are at least `min` different ones. Examples such as `xxxxxxxx` repeat a few. */
export function hasVariety(text: string, min: number): boolean {
  const different = new Set<number>();
  for (let at = 0; at < Math.min(text.length, varietyLength); at++) {
    if (different.add(text.charCodeAt(at)).size >= min) return true;
  }
  return false;
}

const varietyLength = 48;
