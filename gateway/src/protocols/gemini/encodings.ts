import type { Seal } from "#core/index.ts";
import { type JsonObject, objectOf, parseObject, textOf, unsupported } from "../json/value.ts";
import { readSealText, sealMark, sealText } from "../turn/seal-text.ts";

/**
 * A tool's name as Gemini takes it: a letter or an underscore, then letters, digits, underscores, colons and dashes, at
 * most 128 (@google/genai, FunctionDeclaration.name). A name that is not so is written as `_.` and its text, what is not
 * allowed as `.<code point in hex>.`, so that the name in the answer can be read back without knowing the request.
 */
export function writeToolName(name: string): string {
  const written = plain.test(name)
    ? name
    : escapeMark + name.replace(/[^A-Za-z0-9_:-]/gu, (one) => `.${one.codePointAt(0)?.toString(16)}.`);
  if (written.length > nameLengthMax) {
    throw unsupported("tools", `The upstream takes names of tools up to ${nameLengthMax} characters.`);
  }
  return written;
}

/** The name that `writeToolName` was given. */
export function readToolName(written: string): string {
  if (!written.startsWith(escapeMark)) return written;
  return written.slice(escapeMark.length).replace(/\.([0-9a-f]{1,6})\./g, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const nameLengthMax = 128;
const escapeMark = "_.";
/** Names with dots are valid too, but for those that begin like an escaped one. */
const plain = /^(?!_\.)[A-Za-z_][A-Za-z0-9_.:-]*$/;

/**
 * A seal in the one field that Gemini has for such things. A `thoughtSignature` is base64: the vendor's own goes as it
 * is, another's as base64 of its carried form, so that clients that decode and encode it keep it whole.
 */
export function writeSignature(seal: Seal, redacted = false): string {
  if (seal.dialect === "gemini" && !redacted) return seal.data;
  const text = (redacted ? redactedMark : "") + sealText(seal);
  return Buffer.from(text, "utf8").toString("base64");
}

/**
 * A seal as it is found in a `thoughtSignature`, and whether it is that of thoughts whose text the vendor hides. One that is not
 * ours is the vendor's own, from an account we do not know.
 */
export function readSignature(signature: string): { readonly seal: Seal; readonly redacted: boolean } {
  const carried = foreignSealIn(signature);
  const seal = carried === null ? null : readSealText(carried.text);
  if (carried !== null && seal !== null) return { seal, redacted: carried.redacted };
  return { seal: { dialect: "gemini", account: null, itemId: null, data: signature }, redacted: false };
}

/** Whether a signature is another vendor's seal in its carried form, whole or not. */
export function isForeignSeal(signature: string): boolean {
  return foreignSealIn(signature) !== null;
}

function foreignSealIn(signature: string): { readonly text: string; readonly redacted: boolean } | null {
  if (!foreignSealPrefixes.some((opening) => signature.startsWith(opening))) return null;
  const decoded = Buffer.from(signature, "base64").toString("utf8");
  const redacted = decoded.startsWith(redactedMark);
  const text = redacted ? decoded.slice(redactedMark.length) : decoded;
  return text.startsWith(sealMark) ? { text, redacted } : null;
}

const redactedMark = "redacted:";
/** How base64 of either mark begins, so that the vendor's own signatures are not decoded for nothing. */
export const foreignSealPrefixes = [sealMark, redactedMark].map((mark) => {
  const whole = mark.length - (mark.length % 3);
  return Buffer.from(mark.slice(0, whole), "utf8").toString("base64");
});

/**
 * Gemini 3 refuses a turn whose first call has no signature; this one is the vendor's own for calls that another model
 * made. Source: Gemini API docs, "Thought signatures", FAQ.
 */
export const placeholderSignature = "skip_thought_signature_validator";

export function needsSignatures(upstreamModel: string): boolean {
  return (generationOf(upstreamModel) ?? 0) >= 3;
}

/** The generation in a Gemini model's name (2.5 of `gemini-2.5-pro`); null for other names. */
export function generationOf(model: string): number | null {
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(model);
  return found === null ? null : Number(found[1]);
}

/**
 * A tool's result as the object that Gemini wants. Text that is a JSON object is that object; any other text stands
 * under `result`, an error's under `error`.
 */
export function writeToolResponse(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  // Numbers longer than a double holds, such as the ids of some services, would be changed by parsing them.
  const object = /^\s*\{/.test(text) && !/\d{16}/.test(text) ? parseObject(text) : null;
  return object === null || wrapperOf(object) !== null ? { result: text } : object;
}

/** What `writeResponse` was given. The vendor's own word for a plain result is `output`. */
export function readToolResponse(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const wrapped = wrapperOf(response);
  const value = wrapped === null ? null : response[wrapped];
  // Details of an error may be more than a text (@google/genai, FunctionResponse.response).
  if (wrapped === "error" && value) return { text: textOf(value) ?? JSON.stringify(value), isError: true };
  return { text: textOf(value) ?? JSON.stringify(response), isError: false };
}

/** The member that an object consists of, when it is one of those that wrap a text. */
function wrapperOf(object: JsonObject): string | null {
  const [name, ...others] = Object.keys(object);
  if (name === undefined || others.length > 0) return null;
  return name === "result" || name === "output" || name === "error" ? name : null;
}

/** Code that the vendor ran on its side, and what came out, as text that any dialect can show; null for other parts. */
export function codeText({ executableCode, codeExecutionResult }: JsonObject): string | null {
  if (executableCode !== undefined) {
    const code = objectOf(executableCode);
    const language = textOf(code["language"])?.toLowerCase() ?? "";
    return fence(language === "language_unspecified" ? "" : language, textOf(code["code"]) ?? "");
  }
  if (codeExecutionResult === undefined) return null;
  return fence("", textOf(objectOf(codeExecutionResult)["output"]) ?? "");
}

function fence(language: string, text: string): string {
  return `\n\`\`\`${language}\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}\`\`\`\n`;
}
