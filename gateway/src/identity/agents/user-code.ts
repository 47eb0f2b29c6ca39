/** RFC 8628, 6.1: consonants alone, so that no code is a word; twenty of them, eight times, are 34 bits. */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const codeLength = 8;
/** The greatest multiple of the number of letters that a byte can be below: each letter is as likely as any other. */
const fairBelow = 240;

/** As a person reads and types it: `BCDF-GHJK`. */
export function makeUserCode(randomBytes: (size: number) => Uint8Array): string {
  let code = "";
  while (code.length < codeLength) {
    for (const byte of randomBytes(codeLength)) {
      if (byte < fairBelow && code.length < codeLength) code += letters.charAt(byte % letters.length);
    }
  }
  return shownUserCode(code);
}

/** A code however it was typed, as it is shown; null: it cannot be one. */
export function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replace(/[\s\-_.]/g, "");
  if (code.length !== codeLength || [...code].some((letter) => !letters.includes(letter))) return null;
  return shownUserCode(code);
}

function shownUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
