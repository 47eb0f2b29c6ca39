import type { GuardrailPlace } from "@sluice/contract/words";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  skipSpace,
  stringEnd,
  valueEnd,
} from "../json/cursor.ts";
import { memberName } from "../json/names.ts";
import { JsonInvalid } from "../json/scan.ts";
import { isEncodedText } from "./encoded-text.ts";
import type { ShapeBy, TextShape } from "./shape.ts";

/** An object or array that encloses texts. */
class TextParent {
  readonly parent: TextParent | null;
  /** The member's name; null in an array. */
  readonly name: string | null;
  readonly position: number;
  readonly depth: number;
  /** Values of the labels that identify a text of a stream, in the order of the list. */
  labels: (string | undefined)[] | null = null;

  constructor(parent: TextParent | null, name: string | null, position: number) {
    this.parent = parent;
    this.name = name;
    this.position = position;
    this.depth = parent === null ? 0 : parent.depth + 1;
  }

  /** Like `messages[0].content[1]`; empty for the root. */
  path(): string {
    return this.parent === null ? "" : this.parent.pathOf(this.name, this.position);
  }

  pathOf(name: string | null, position: number): string {
    const path = this.path();
    if (name === null) return `${path}[${position}]`;
    return path === "" ? name : `${path}.${name}`;
  }

  /** The same for all events of a stream, since labels replace positions. */
  key(): string {
    const labels =
      this.labels === null ? "" : this.labels.map((label) => (label === undefined ? "" : `${label};`)).join("");
    if (this.parent === null) return labels;
    // Only labels, or positions in their place: a text may continue at a member with another name.
    return `${this.parent.key()}${labels === "" && this.name === null ? `${this.position};` : labels}`;
  }
}

/**
 * string  the characters between the quotes of a string
 * name    the same, of a member's name
 * value   a whole JSON value of the caller's own data
 * plain   text without JSON's escapes
 * file    the same as string, of a text file in base64 or in a data URL
 */
type TextKind = "string" | "name" | "value" | "plain" | "file";

/** One text of a body, as a range of its bytes. */
export interface TextSpan extends Span {
  readonly kind: TextKind;
  readonly place: GuardrailPlace;
  /** The string holds JSON. */
  readonly json: boolean;
  /** It continues in later events. */
  readonly piece: boolean;
  /** It may not be changed. */
  readonly signed: boolean;
  readonly parent: TextParent;
  readonly name: string | null;
  readonly position: number;
}

export interface ReadTexts {
  readonly texts: readonly TextSpan[];
  /** Parts that cannot be read, by reason. */
  readonly media: number;
  readonly sealed: number;
  /** Values to clear if a text is changed, and what to write instead. */
  readonly repeats: readonly (Span & { readonly text: string })[];
  /** Objects with texts that do not continue. */
  readonly ended: readonly TextParent[];
  /** The root; null if the body is no object or array. */
  readonly root: TextParent | null;
}

const noLabels: readonly string[] = [];
/** As for requests. */
const depthMax = 128;

/** Whether a text has to be read; it is escaped for JSON `levels` times. */
export type TextFilter = (bytes: Uint8Array, start: number, end: number, levels: 1 | 2) => boolean;

interface ReadOptions {
  /** See StreamShape. */
  readonly labels?: readonly string[];
  /** Texts that are left out. Files and bodies that are not JSON stay. */
  readonly filter?: TextFilter | null;
}

/** Finds the texts of a body. One that is not JSON is one text, and so is a value that is nested too deeply. */
export function readTexts(
  bytes: Buffer,
  shape: TextShape,
  { labels = noLabels, filter = null }: ReadOptions = {},
): ReadTexts {
  try {
    return new TextReader(bytes, labels, filter).read(shape);
  } catch (thrown) {
    if (!(thrown instanceof JsonInvalid || thrown instanceof SyntaxError)) throw thrown;
    return wholeText(bytes);
  }
}

/** A text without JSON's syntax. */
export function plainSpan(start: number, end: number, kind: "plain" | "value" = "plain"): TextSpan {
  const at = { parent: new TextParent(null, null, 0), name: null, position: 0 };
  return { start, end, kind, place: "text", json: false, piece: false, signed: false, ...at };
}

/** A body that is one text. It may be JSON for a reader that is more lenient. */
function wholeText(bytes: Buffer): ReadTexts {
  const text = plainSpan(0, bytes.length, bytes.includes("\\u") ? "value" : "plain");
  return { texts: [text], media: 0, sealed: 0, repeats: [], ended: [], root: null };
}

class TextReader implements ReadTexts {
  readonly texts: TextSpan[] = [];
  media = 0;
  sealed = 0;
  readonly repeats: (Span & { readonly text: string })[] = [];
  readonly ended: TextParent[] = [];
  root: TextParent | null = null;
  readonly #bytes: Buffer;
  readonly #labels: readonly string[];
  readonly #filter: TextFilter | null;

  constructor(bytes: Buffer, labels: readonly string[], filter: TextFilter | null) {
    this.#bytes = bytes;
    this.#labels = labels;
    this.#filter = filter;
  }

  read(shape: TextShape): this {
    const bytes = this.#bytes;
    const at = skipSpace(bytes, 0);
    const end = this.#value(at, shape, shape.place ?? "text", new TextParent(null, null, 0), null, 0);
    if (skipSpace(bytes, end) !== bytes.length) throw new JsonInvalid("more than one value", end);
    return this;
  }

  /** Returns the offset after the value at `at`. */
  #value(
    at: number,
    shape: TextShape,
    place: GuardrailPlace,
    parent: TextParent,
    name: string | null,
    position: number,
  ): number {
    const bytes = this.#bytes;
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = this.#end(at);
      this.#string({ start: at + 1, end: end - 1 }, shape, place, parent, name, position);
      return end;
    }
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) {
      const end = this.#end(at);
      if (this.root === null) this.#add("value", { start: at, end }, shape, place, parent, name, position);
      return end;
    }
    if (shape.repeats !== undefined) {
      const end = this.#end(at);
      this.repeats.push({ start: at, end, text: shape.repeats });
      return end;
    }
    if (shape.data === true) {
      const end = this.#end(at);
      this.#add("value", { start: at, end }, shape, place, parent, name, position);
      return end;
    }
    const own = this.root === null ? parent : new TextParent(parent, name, position);
    this.root ??= own;
    if (own.depth > depthMax) {
      const end = this.#end(at);
      this.#add("value", { start: at, end }, shape, place, parent, name, position);
      return end;
    }
    return byte === OPEN_OBJECT ? this.#object(at, shape, place, own) : this.#array(at, shape, place, own);
  }

  #end(at: number): number {
    const end = valueEnd(this.#bytes, at);
    // A number may end the body.
    if (end <= this.#bytes.length || this.root === null) return Math.min(end, this.#bytes.length);
    throw new JsonInvalid("a value does not end", at);
  }

  #string(
    span: Span,
    shape: TextShape,
    place: GuardrailPlace,
    parent: TextParent,
    name: string | null,
    position: number,
  ): void {
    if (span.start === span.end) return;
    const isFile = shape.skip === "media" || (shape.url === true && isDataUrl(this.#bytes, span.start));
    if (isFile) {
      if (!isEncodedText(this.#bytes, span)) this.media++;
      else this.#add("file", span, shape, place, parent, name, position);
    } else if (shape.skip !== undefined) {
      if (shape.skip === "sealed") this.sealed++;
    } else this.#add("string", span, shape, place, parent, name, position);
  }

  #add(
    kind: TextKind,
    { start, end }: Span,
    { json, piece, signed }: TextShape,
    place: GuardrailPlace,
    parent: TextParent,
    name: string | null,
    position: number,
  ): void {
    const filter = this.#filter;
    const levels = json === true && kind === "string" ? 2 : 1;
    if (filter !== null && kind !== "file" && !filter(this.#bytes, start, end, levels)) return;
    const flags = { json: json === true, piece: piece === true, signed: signed === true };
    this.texts.push({ kind, start, end, place, ...flags, parent, name, position });
  }

  #object(start: number, given: TextShape, outer: GuardrailPlace, own: TextParent): number {
    const bytes = this.#bytes;
    let place = given.place ?? outer;
    let members = given.members;
    const others = given.others ?? anyText;
    for (const { member, shapes } of given.by ?? noChoices) {
      const value = stringMember(bytes, start, member);
      const chosen = value !== null && Object.hasOwn(shapes, value) ? shapes[value] : undefined;
      place = chosen?.place ?? place;
      members = chosen?.members ?? members;
    }
    let at = skipSpace(bytes, start + 1);
    while (bytes[at] === QUOTE) {
      const nameEnd = stringEnd(bytes, at);
      const name = memberName(bytes, at, nameEnd);
      const shaped = members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
      if (shaped === undefined && !this.#labels.includes(name)) {
        this.#add("name", { start: at + 1, end: nameEnd - 1 }, anyText, place, own, name, 0);
      }
      const value = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
      at = this.#value(value, shaped ?? others, shaped?.place ?? place, own, name, 0);
      if (shaped?.ends === true && bytes[value] !== LOWER_N) this.ended.push(own);
      if (this.#labels.length > 0) this.#label(own, name, value, at);
      at = skipSpace(bytes, at);
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    }
    if (bytes[at] !== CLOSE_OBJECT) throw new JsonInvalid("unexpected byte in an object", at);
    return at + 1;
  }

  #label(own: TextParent, name: string, start: number, end: number): void {
    const label = this.#labels.indexOf(name);
    if (label === -1 || this.#bytes[start] === LOWER_F || this.#bytes[start] === LOWER_N) return;
    own.labels ??= [];
    own.labels[label] = this.#bytes.toString("latin1", start, end);
  }

  #array(start: number, shape: TextShape, place: GuardrailPlace, own: TextParent): number {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, start + 1);
    for (let position = 0; at < bytes.length && bytes[at] !== CLOSE_ARRAY; position++) {
      const end = this.#value(at, shape, place, own, null, shape.joined === true ? 0 : position);
      if (end === at) throw new JsonInvalid("unexpected byte in an array", at);
      at = skipSpace(bytes, end);
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    }
    if (bytes[at] !== CLOSE_ARRAY) throw new JsonInvalid("an array does not end", at);
    return at + 1;
  }
}

const anyText: TextShape = {};
const noChoices: readonly ShapeBy[] = [];
const LOWER_F = 0x66;
const LOWER_N = 0x6e;

/** The string value of a member of the object at `start`; null if there is none. The last of duplicates counts. */
export function stringMember(bytes: Buffer, start: number, member: string): string | null {
  let found: string | null = null;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = stringEnd(bytes, at);
    const name = memberName(bytes, at, nameEnd);
    const value = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = valueEnd(bytes, value);
    if (name === member) found = bytes[value] === QUOTE ? memberName(bytes, value, end) : null;
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  return found;
}

function isDataUrl(bytes: Buffer, start: number): boolean {
  return bytes.toString("latin1", start, start + 5).toLowerCase() === "data:";
}
