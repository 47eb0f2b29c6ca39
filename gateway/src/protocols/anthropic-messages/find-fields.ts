import type { Edit } from "../json/bytes.ts";
import { splice } from "../json/bytes.ts";
import { type Span, skipSpace } from "../json/cursor.ts";
import { cutsFrom, itemsAt, type MemberPlace, membersAt, stringAt } from "../json/places.ts";
import { walkMembers } from "../json/walk.ts";

/** Where fields of a messages request stand, by name. */
export interface FieldPlaces {
  /** At the top. */
  readonly members?: readonly string[];
  /** In an object at the top. */
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  /** In a tool. */
  readonly ofTools?: readonly string[];
  /** Whole tools, by how their type begins. */
  readonly toolTypes?: readonly string[];
  /** In a cache_control, wherever it stands. */
  readonly ofCacheMarks?: readonly string[];
}

/** A messages request whose grammar was checked, as far as these fields go. */
export interface FieldsDocument {
  has(places: FieldPlaces): boolean;
  /** The bytes without them; all others stay as they are. */
  without(all: readonly FieldPlaces[]): Uint8Array;
}

/** null: the bytes do not name any of them, so that nothing has to be walked. */
export function findFields(body: Uint8Array, all: readonly FieldPlaces[]): FieldsDocument | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return all.some((places) => marksOf(places).some((mark) => bytes.includes(mark))) ? new FoundFields(bytes) : null;
}

const known = new WeakMap<FieldPlaces, readonly Buffer[]>();

function marksOf(places: FieldPlaces): readonly Buffer[] {
  const found = known.get(places);
  if (found !== undefined) return found;
  const { members = [], nested = {}, ofTools = [], toolTypes = [], ofCacheMarks = [] } = places;
  const whole = [...members, ...Object.values(nested).flat(), ...ofTools, ...ofCacheMarks].map((name) => `"${name}"`);
  const marks = [...whole, ...toolTypes.map((type) => `"${type}`)].map((mark) => Buffer.from(mark));
  known.set(places, marks);
  return marks;
}

interface List<Place extends Span> {
  readonly places: readonly Place[];
  readonly gone: ReadonlySet<Place>;
}

class FoundFields implements FieldsDocument {
  readonly #bytes: Buffer;
  readonly #root: readonly MemberPlace[];
  readonly #tools: readonly Span[];
  /** Of each tool; read once, when somebody asks. */
  #toolMembers: readonly (readonly MemberPlace[])[] | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#root = membersAt(bytes, skipSpace(bytes, 0));
    this.#tools = this.#root.filter(({ name }) => name === "tools").flatMap(({ start }) => itemsAt(bytes, start));
  }

  has(places: FieldPlaces): boolean {
    return this.#toolsGone([places]).gone.size > 0 || this.#lists([places]).some(({ gone }) => gone.size > 0);
  }

  without(all: readonly FieldPlaces[]): Uint8Array {
    const cuts: Edit[] = [];
    const tools = this.#toolsGone(all);
    cuts.push(...cutsFrom(tools.places, tools.gone));
    for (const { places, gone } of this.#lists(all)) cuts.push(...cutsFrom(places, gone, ({ nameStart }) => nameStart));
    cuts.sort((a, b) => a.start - b.start || b.end - a.end);
    // What stands in a part that goes is gone with it.
    let end = 0;
    const outer = cuts.filter((cut) => {
      if (cut.start < end) return false;
      end = cut.end;
      return true;
    });
    return outer.length === 0 ? this.#bytes : splice(this.#bytes, outer);
  }

  #toolsGone(all: readonly FieldPlaces[]): List<Span> {
    const types = all.flatMap(({ toolTypes = [] }) => toolTypes);
    if (types.length === 0) return { places: this.#tools, gone: new Set() };
    const members = this.#membersOfTools();
    const isGone = (_: Span, index: number): boolean =>
      (members[index] ?? []).some((member) => {
        const type = member.name === "type" ? stringAt(this.#bytes, member) : null;
        return type !== null && types.some((begin) => type.startsWith(begin));
      });
    return { places: this.#tools, gone: new Set(this.#tools.filter(isGone)) };
  }

  /** Members that go, by the object that holds them. */
  #lists(all: readonly FieldPlaces[]): readonly List<MemberPlace>[] {
    const top = namesOf(all, ({ members = [] }) => members);
    const ofTools = namesOf(all, (places) => places.ofTools ?? []);
    const lists = [without(this.#root, top)];
    if (ofTools.size > 0) {
      lists.push(...this.#membersOfTools().map((members) => without(members, ofTools)));
    }
    for (const { name, start } of this.#root) {
      const inner = namesOf(all, ({ nested = {} }) => nested[name] ?? []);
      if (inner.size > 0) lists.push(without(membersAt(this.#bytes, start), inner));
    }
    lists.push(...this.#cacheMarks(namesOf(all, ({ ofCacheMarks = [] }) => ofCacheMarks)));
    return lists;
  }

  #membersOfTools(): readonly (readonly MemberPlace[])[] {
    this.#toolMembers ??= this.#tools.map(({ start }) => membersAt(this.#bytes, start));
    return this.#toolMembers;
  }

  #cacheMarks(names: ReadonlySet<string>): readonly List<MemberPlace>[] {
    const lists: List<MemberPlace>[] = [];
    if (names.size === 0) return lists;
    walkMembers(this.#bytes, cacheMark, (_, start) => lists.push(without(membersAt(this.#bytes, start), names)));
    return lists;
  }
}

const cacheMark: ReadonlySet<string> = new Set(["cache_control"]);

function namesOf(all: readonly FieldPlaces[], of: (places: FieldPlaces) => readonly string[]): ReadonlySet<string> {
  return new Set(all.flatMap(of));
}

function without(places: readonly MemberPlace[], names: ReadonlySet<string>): List<MemberPlace> {
  return { places, gone: new Set(places.filter(({ name }) => names.has(name))) };
}
