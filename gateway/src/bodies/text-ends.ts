const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The end of the string that begins at `start`, after its closing quote. */
export function endOfText(body: Uint8Array, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = body.indexOf(QUOTE, from);
    if (quote < 0) return body.length;
    let slashes = 0;
    while (body[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

/** Whether the string that ends there is the name of a member. */
export function isName(body: Uint8Array, end: number): boolean {
  let at = end;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return body[at] === COLON;
}
