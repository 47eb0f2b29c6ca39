import { isObject, type JsonObject } from "#protocols/index.ts";

/** Longer texts are material: a `data:` URI, and any other (base64 alone) that is no address. Words never are. */
const taskDataInPlaceCharactersMax = 1024;
const taskTextInPlaceCharactersMax = 8 * 1024;

/**
 * What stands in a body in the place of material that is kept apart: where it begins in the bytes of that hash, and how
 * many they are. Nobody can write one that means something: the hash is that of bytes with the task's own id in them.
 */
export interface Mark {
  readonly hash: string;
  readonly start: number;
  readonly length: number;
}

/** The text of a mark. What says of which type a `data:` URI is stays in front of it, to be judged by. */
export function markText(head: string, { hash, start, length }: Mark): string {
  return `${head}sluice-material:${hash}:${start}:${length}`;
}

const markForm = /^(.{0,256})sluice-material:([0-9a-f]{64}):(\d{1,9}):(\d{1,9})$/s;
const markCharactersMax = 512;

/** What stands in front of a mark, and what it says; null for a text that is none. */
export function markIn(text: string): { readonly head: string; readonly mark: Mark } | null {
  const found = text.length > markCharactersMax ? null : markForm.exec(text);
  if (found === null) return null;
  const [, head = "", hash = "", start, length] = found;
  return { head, mark: { hash, start: Number(start), length: Number(length) } };
}

/** A text as what stays of it and what is material; null for one that stays whole. */
export function materialIn(text: string): { readonly head: string; readonly material: string } | null {
  if (text.length <= taskDataInPlaceCharactersMax) return null;
  const data = /^data:[^,]{0,250},/i.exec(text)?.[0] ?? null;
  if (data === null && text.length <= taskTextInPlaceCharactersMax) return null;
  // An asset is asked for by its name, and what is no text cannot be written as one.
  if (/^asset:/i.test(text) || !text.isWellFormed()) return null;
  const head = data ?? "";
  return { head, material: text.slice(head.length) };
}

/** The object with every text replaced that is not a word: neither a prompt nor anything else that is read here. */
export function withTexts(value: JsonObject, replace: (text: string) => string): JsonObject {
  return replaced(value, replace) as JsonObject;
}

function replaced(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((one) => replaced(one, replace));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [
    name,
    words.has(name.toLowerCase()) ? one : replaced(one, replace),
  ]);
  return Object.fromEntries(members);
}

/** Members that hold words and settings, wherever they stand. */
const words: ReadonlySet<string> = new Set(["model", "prompt", "text", "metadata", "callback_url"]);
