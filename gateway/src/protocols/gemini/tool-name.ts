import { unsupported } from "../json/value.ts";

/**
 * A tool's name as Gemini takes it: a letter or an underscore, then letters, digits, underscores, colons and dashes, at
 * most 128 (@google/genai, FunctionDeclaration.name). A name that is not so is written as `_.` and its text, what is not
 * allowed as `.<code point in hex>.`, so that the name in the answer can be read back without knowing the request.
 */
export function writeToolName(name: string): string {
  const written = plain.test(name) ? name : escapeMark + name.replace(/[^A-Za-z0-9_:-]/gu, escaped);
  if (written.length > nameLengthMax) {
    throw unsupported("tools", `The upstream takes names of tools up to ${nameLengthMax} characters.`);
  }
  return written;
}

/** The name that `writeToolName` was given. */
export function readToolName(written: string): string {
  if (!written.startsWith(escapeMark)) return written;
  return written.slice(escapeMark.length).replace(/\.([0-9a-f]{1,6})\./g, unescaped);
}

const nameLengthMax = 128;
const escapeMark = "_.";
/** Names with dots are valid too, but for those that begin like an escaped one. */
const plain = /^(?!_\.)[A-Za-z_][A-Za-z0-9_.:-]*$/;

function escaped(character: string): string {
  return `.${(character.codePointAt(0) ?? 0).toString(16)}.`;
}

function unescaped(whole: string, hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
