import type { Seal } from "#core/index.ts";
import { type JsonObject, objectOf, parseObject, textOf, unsupported } from "../json/value.ts";
import { readSealText, sealMark, sealText } from "../turn/seal-text.ts";

/**
 * Encodes a tool name for Gemini: a letter or underscore, then letters, digits, `_:.-`, at most 128 (@google/genai,
 * FunctionDeclaration.name). Other names become `_.` and their text with `.<code point in hex>.` for other characters.
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

/** Reverses `writeToolName`. */
export function readToolName(written: string): string {
  if (!written.startsWith(escapeMark)) return written;
  return written.slice(escapeMark.length).replace(/\.([0-9a-f]{1,6})\./g, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const nameLengthMax = 128;
const escapeMark = "_.";
/** Names with dots are valid unless they look escaped. */
const plain = /^(?!_\.)[A-Za-z_][A-Za-z0-9_.:-]*$/;

/** A seal as `thoughtSignature`. It must be base64, so another vendor's seal is encoded again. */
export function writeSignature(seal: Seal, redacted = false): string {
  if (seal.dialect === "gemini" && !redacted) return seal.data;
  const text = (redacted ? redactedMark : "") + sealText(seal);
  return Buffer.from(text, "utf8").toString("base64");
}

/** Reads a `thoughtSignature`. Signatures that are not ours are Gemini's own, from an unknown account. */
export function readSignature(signature: string): { readonly seal: Seal; readonly redacted: boolean } {
  const carried = foreignSealIn(signature);
  const seal = carried === null ? null : readSealText(carried.text);
  if (carried !== null && seal !== null) return { seal, redacted: carried.redacted };
  return { seal: { dialect: "gemini", account: null, itemId: null, data: signature }, redacted: false };
}

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
/** Base64 prefixes of both marks, so that Gemini's own signatures need no decoding. */
export const foreignSealPrefixes = [sealMark, redactedMark].map((mark) => {
  const whole = mark.length - (mark.length % 3);
  return Buffer.from(mark.slice(0, whole), "utf8").toString("base64");
});

/**
 * Gemini 3 requires a signature on the first call of a turn and documents this one for calls of other models. Source: Gemini API docs,
 * "Thought signatures", FAQ.
 */
export const placeholderSignature = "skip_thought_signature_validator";

export function needsSignatures(upstreamModel: string): boolean {
  return (generationOf(upstreamModel) ?? 0) >= 3;
}

/** 2.5 for `gemini-2.5-pro`; null for other names. */
export function generationOf(model: string): number | null {
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(model);
  return found === null ? null : Number(found[1]);
}

/** A tool result as an object: the JSON object in the text, else `{result}` or `{error}`. */
export function writeToolResponse(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  // Parsing would change integers beyond a double's precision.
  const object = /^\s*\{/.test(text) && !/\d{16}/.test(text) ? parseObject(text) : null;
  return object === null || wrapperOf(object) !== null ? { result: text } : object;
}

/** Reverses `writeToolResponse`. Google itself uses `output`. */
export function readToolResponse(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const wrapped = wrapperOf(response);
  const value = wrapped === null ? null : response[wrapped];
  // Error details may be an object (@google/genai, FunctionResponse.response).
  if (wrapped === "error" && value) return { text: textOf(value) ?? JSON.stringify(value), isError: true };
  return { text: textOf(value) ?? JSON.stringify(response), isError: false };
}

/** The only member, if it is one that wraps a text. */
function wrapperOf(object: JsonObject): string | null {
  const [name, ...others] = Object.keys(object);
  if (name === undefined || others.length > 0) return null;
  return name === "result" || name === "output" || name === "error" ? name : null;
}

/** Code run by Google and its output, as text; null for other parts. */
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
