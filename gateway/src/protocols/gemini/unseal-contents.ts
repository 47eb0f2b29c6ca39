import type { Edit } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { cutsFrom, itemsAt, type MemberPlace, membersAt, stringAt } from "../json/places.ts";
import { foreignSignature, isCarried, needsSignatures } from "./encodings.ts";

/**
 * What gives way in a request to Gemini, so that it is shown no seal of another vendor: thoughts that carry one, and the
 * signatures of calls and texts. A call keeps its place and, where the model wants one, gets the signature that the vendor has for calls
 * of others. `start`: where the body's object begins.
 */
export function unsealContents(bytes: Buffer, start: number, upstreamModel: string): readonly Edit[] {
  return membersAt(bytes, start)
    .filter(({ name }) => name === "contents")
    .flatMap((contents) => new ContentsUnsealer(bytes, needsSignatures(upstreamModel)).cuts(contents));
}

class ContentsUnsealer {
  readonly #bytes: Buffer;
  readonly #signs: boolean;
  readonly #cuts: Edit[] = [];
  /** The model has called something since the user spoke. */
  #called = false;
  /** Parts of a thought whose signature has not come yet: it stands on the last. */
  #thought: Span[] = [];
  /** All parts that go, by where they begin. */
  readonly #gone = new Set<number>();

  constructor(bytes: Buffer, signs: boolean) {
    this.#bytes = bytes;
    this.#signs = signs;
  }

  cuts(contents: Span): readonly Edit[] {
    const places = itemsAt(this.#bytes, contents.start);
    const lists = places.map(({ start }) => this.#partsOf(start));
    const emptied = new Set(
      places.filter((_, index) => {
        const parts = (lists[index] ?? []).flat();
        return parts.length > 0 && parts.every(({ start }) => this.#gone.has(start));
      }),
    );
    const kept = places.flatMap((place, index) => (emptied.has(place) ? [] : (lists[index] ?? [])));
    for (const parts of kept) {
      this.#cuts.push(...cutsFrom(parts, new Set(parts.filter(({ start }) => this.#gone.has(start)))));
    }
    return [...cutsFrom(places, emptied), ...this.#cuts];
  }

  /** The lists of parts of one content; one, but for bodies that name it twice. */
  #partsOf(start: number): readonly (readonly Span[])[] {
    const members = membersAt(this.#bytes, start);
    const isModel = members.some((one) => one.name === "role" && stringAt(this.#bytes, one) === "model");
    if (!isModel) this.#called = false;
    if (!isModel) this.#thought = [];
    const lists = members.filter(({ name }) => name === "parts").map((parts) => itemsAt(this.#bytes, parts.start));
    for (const part of lists.flat()) this.#readPart(part);
    return lists;
  }

  #readPart(part: Span): void {
    const members = membersAt(this.#bytes, part.start);
    const has = (...names: string[]): boolean => members.some(({ name }) => names.includes(name));
    const signatures = members.filter(({ name }) => name === "thoughtSignature" || name === "thought_signature");
    const sealed = signatures.filter((one) => isCarried(stringAt(this.#bytes, one) ?? ""));
    const isThought = members.some(({ name, start }) => name === "thought" && this.#bytes[start] === LETTER_T);
    if (isThought && signatures.length === 0) {
      this.#thought.push(part);
      return;
    }
    const thought = this.#thought;
    this.#thought = [];
    const isCall = has("functionCall", "function_call");
    if (sealed.length > 0 && !isCall && (isThought || this.#isBare(members))) {
      for (const { start } of [...thought, part]) this.#gone.add(start);
    } else if (sealed.length > 0) {
      this.#unsign(members, sealed, isCall && this.#signs && !this.#called);
    }
    if (isCall) this.#called = true;
  }

  /** Nothing but a signature, on a text without words. */
  #isBare(members: readonly MemberPlace[]): boolean {
    return members.every(
      (one) =>
        one.name === "thoughtSignature" ||
        one.name === "thought_signature" ||
        (one.name === "text" && stringAt(this.#bytes, one) === ""),
    );
  }

  #unsign(members: readonly MemberPlace[], sealed: readonly MemberPlace[], sign: boolean): void {
    if (sign) {
      this.#cuts.push(...sealed.map(({ start, end }) => ({ start, end, text: JSON.stringify(foreignSignature) })));
    } else {
      this.#cuts.push(...cutsFrom(members, new Set(sealed), ({ nameStart }) => nameStart));
    }
  }
}

const LETTER_T = 0x74;
