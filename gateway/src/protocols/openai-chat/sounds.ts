import { asBuffer } from "../bytes.ts";
import { skimObject, skimValue } from "../json-skim.ts";
import { textOf } from "../json-value.ts";
import { valueEnd } from "../member-walk.ts";

/** The id of the sound in an answer, or in a piece of one: a later message may name it (`audio.id`). */
export function soundsIn(bytes: Uint8Array, from = 0, to = bytes.length): readonly string[] {
  const text = asBuffer(bytes);
  const mark = text.indexOf(soundMark, from);
  if (mark === -1 || mark >= to) return none;
  let start = mark + soundMark.length;
  while ((text[start] ?? 0) <= 0x20 && start < text.length) start++;
  if (text[start] !== OPEN_OBJECT) return none;
  const members = skimObject(text, start, valueEnd(text, start), idOnly);
  const id = textOf(skimValue(text, members?.get("id")));
  return id === null ? none : [id];
}

const soundMark = Buffer.from('"audio":');
const idOnly: ReadonlySet<string> = new Set(["id"]);
const none: readonly string[] = [];
const OPEN_OBJECT = 0x7b;
