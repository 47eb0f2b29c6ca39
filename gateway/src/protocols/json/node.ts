import type { Edit } from "./bytes.ts";
import { COMMA, OPEN_OBJECT, QUOTE, type Span, skipSpace, stringEnd, valueEnd } from "./cursor.ts";
import { memberName } from "./names.ts";
import { readSpan } from "./scan.ts";
import { skimArray } from "./skim.ts";

/** A value in a body whose grammar was checked. Children are found on demand. */
export class JsonNode implements Span {
  readonly start: number;
  readonly end: number;
  /** The member's name, or empty. */
  readonly name: string;
  /** Start of the member's name, or of the value. */
  readonly from: number;
  readonly #bytes: Buffer;
  #members: readonly JsonNode[] | null = null;
  #items: readonly JsonNode[] | null = null;

  constructor(bytes: Buffer, start: number, end: number, name = "", from = start) {
    this.#bytes = bytes;
    this.start = start;
    this.end = end;
    this.name = name;
    this.from = from;
  }

  /** Members of an object, duplicates included; empty for other values. */
  get members(): readonly JsonNode[] {
    this.#members ??= [...this.#readMembers()];
    return this.#members;
  }

  /** Items of an array; empty for other values. */
  get items(): readonly JsonNode[] {
    const bytes = this.#bytes;
    this.#items ??= (skimArray(bytes, this, Number.POSITIVE_INFINITY) ?? []).map(
      (at) => new JsonNode(bytes, at.start, at.end),
    );
    return this.#items;
  }

  /** All values, because readers differ on which of several counts. */
  membersNamed(name: string): readonly JsonNode[] {
    return this.members.filter((member) => member.name === name);
  }

  /** A string with its escapes decoded; null for other values. */
  get text(): string | null {
    return this.#bytes[this.start] === QUOTE ? String(readSpan(this.#bytes, this)) : null;
  }

  get isTrue(): boolean {
    return this.#bytes[this.start] === LOWER_T;
  }

  /** The string values of members with this name. */
  textsNamed(name: string): readonly string[] {
    return this.membersNamed(name).flatMap(({ text }) => text ?? []);
  }

  *#readMembers(): Generator<JsonNode> {
    const bytes = this.#bytes;
    if (bytes[this.start] !== OPEN_OBJECT) return;
    let at = skipSpace(bytes, this.start + 1);
    while (bytes[at] === QUOTE) {
      const nameEnd = stringEnd(bytes, at);
      const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
      const end = valueEnd(bytes, start);
      yield new JsonNode(bytes, start, end, memberName(bytes, at, nameEnd), at);
      at = skipSpace(bytes, end);
      if (bytes[at] !== COMMA) break;
      at = skipSpace(bytes, at + 1);
    }
  }
}

const LOWER_T = 0x74;

/** Removes nodes with their commas from a list. `nodes` must be the whole list in order. */
export function cutNodes(nodes: readonly JsonNode[], isGone: (node: JsonNode) => boolean): readonly Edit[] {
  const cuts: Edit[] = [];
  let before: JsonNode | undefined;
  for (let at = 0; at < nodes.length; at++) {
    const first = nodes[at] as JsonNode;
    if (!isGone(first)) {
      before = first;
      continue;
    }
    while (at + 1 < nodes.length && isGone(nodes[at + 1] as JsonNode)) at++;
    const next = nodes[at + 1];
    if (next !== undefined) cuts.push({ start: first.from, end: next.from, text: "" });
    else cuts.push({ start: before?.end ?? first.from, end: (nodes[at] as JsonNode).end, text: "" });
  }
  return cuts;
}
