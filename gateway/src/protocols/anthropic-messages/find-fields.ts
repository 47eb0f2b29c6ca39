import { asBuffer, type Edit, splice } from "../json/bytes.ts";
import { skipSpace } from "../json/cursor.ts";
import { cutNodes, JsonNode } from "../json/node.ts";
import { walkMembers } from "../json/walk.ts";

/** Fields of a messages request, by place and name. */
export interface FieldPlaces {
  /** Top-level members. */
  readonly members?: readonly string[];
  /** Members of top-level objects. */
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  /** Members of tools. */
  readonly ofTools?: readonly string[];
  /** Prefixes of the types of whole tools. */
  readonly toolTypes?: readonly string[];
  /** Members of any cache_control. */
  readonly ofCacheMarks?: readonly string[];
}

/** Null if the bytes contain no such name. */
export function findFields(body: Uint8Array, all: readonly FieldPlaces[]) {
  const bytes = asBuffer(body);
  if (!all.some((places) => marksOf(places).some((mark) => bytes.includes(mark)))) return null;
  const root = new JsonNode(bytes, skipSpace(bytes, 0), bytes.length);
  return {
    has: (places: FieldPlaces): boolean => cutsOf(bytes, root, [places]).length > 0,
    /** The bytes without these fields. */
    without(gone: readonly FieldPlaces[]): Uint8Array {
      const cuts = cutsOf(bytes, root, gone).toSorted((a, b) => a.start - b.start || b.end - a.end);
      // Cuts within a cut are redundant.
      let end = 0;
      const outer = cuts.filter((cut) => {
        if (cut.start < end) return false;
        end = cut.end;
        return true;
      });
      return outer.length === 0 ? bytes : splice(bytes, outer);
    },
  };
}

const marksByFields = new WeakMap<FieldPlaces, readonly Buffer[]>();

function marksOf(places: FieldPlaces): readonly Buffer[] {
  const found = marksByFields.get(places);
  if (found !== undefined) return found;
  const { members = [], nested = {}, ofTools = [], toolTypes = [], ofCacheMarks = [] } = places;
  const whole = [...members, ...Object.values(nested).flat(), ...ofTools, ...ofCacheMarks].map((name) => `"${name}"`);
  const marks = [...whole, ...toolTypes.map((type) => `"${type}`)].map((mark) => Buffer.from(mark));
  marksByFields.set(places, marks);
  return marks;
}

function cutsOf(bytes: Buffer, root: JsonNode, all: readonly FieldPlaces[]): readonly Edit[] {
  const top = all.flatMap(({ members = [] }) => members);
  const ofTools = all.flatMap((places) => places.ofTools ?? []);
  const toolTypes = all.flatMap((places) => places.toolTypes ?? []);
  const ofCacheMarks = all.flatMap((places) => places.ofCacheMarks ?? []);
  const cuts: Edit[] = [];
  const cut = (places: readonly JsonNode[], names: readonly string[]): void => {
    if (names.length > 0) cuts.push(...cutNodes(places, ({ name }) => names.includes(name)));
  };
  cut(root.members, top);
  for (const member of root.members) {
    const inner = all.flatMap(({ nested = {} }) => nested[member.name] ?? []);
    if (inner.length > 0) cut(member.members, inner);
  }
  for (const { items } of root.membersNamed("tools")) {
    if (ofTools.length > 0) for (const tool of items) cut(tool.members, ofTools);
    if (toolTypes.length === 0) continue;
    const isGone = (type: string): boolean => toolTypes.some((begin) => type.startsWith(begin));
    cuts.push(...cutNodes(items, (tool) => tool.textsNamed("type").some(isGone)));
  }
  if (ofCacheMarks.length === 0) return cuts;
  walkMembers(bytes, cacheMark, (_, start) => cut(new JsonNode(bytes, start, bytes.length).members, ofCacheMarks));
  return cuts;
}

const cacheMark: ReadonlySet<string> = new Set(["cache_control"]);
