/** Where the JSON string that began before `from` closes; the end of the event where it does not. */
export function stringEnd(event: Buffer, from: number): number {
  for (let at = quoteAt(event, from); at < event.length; at = quoteAt(event, at + 1)) {
    let before = at - 1;
    while (before >= from && event[before] === BACKSLASH) before--;
    // An even number of backslashes before it: they escape each other, not the quote.
    if ((at - before) % 2 === 1) return at;
  }
  return event.length;
}

/** The next quote; the end of the event where there is none. Many are near: a call of the runtime's search costs more than a few steps. */
export function quoteAt(event: Buffer, from: number): number {
  const near = Math.min(event.length, from + nearBytes);
  for (let at = from; at < near; at++) if (event[at] === QUOTE) return at;
  const found = event.indexOf(QUOTE, near);
  return found === -1 ? event.length : found;
}

/** Output is generated a token or a few at an event: short pieces count one, longer ones a token per four bytes. */
export function pieceTokens(length: number): number {
  if (length <= 0) return 0;
  return length <= 16 ? 1 : Math.ceil(length / 4);
}

const nearBytes = 32;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
