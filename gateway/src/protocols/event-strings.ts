/** Where the JSON string that began before `from` closes; the end of the event where it does not. */
export function stringEnd(event: Buffer, from: number): number {
  for (let at = event.indexOf(QUOTE, from); at !== -1; at = event.indexOf(QUOTE, at + 1)) {
    let before = at - 1;
    while (before >= from && event[before] === BACKSLASH) before--;
    // An even number of backslashes before it: they escape each other, not the quote.
    if ((at - before) % 2 === 1) return at;
  }
  return event.length;
}

/** Output is generated a token or a few at an event: short pieces count one, longer ones a token per four bytes. */
export function pieceTokens(length: number): number {
  if (length <= 0) return 0;
  return length <= 16 ? 1 : Math.ceil(length / 4);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
