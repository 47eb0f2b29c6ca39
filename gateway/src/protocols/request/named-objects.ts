import { bounds, type UpstreamObjectKind } from "#core/index.ts";
import { asBuffer } from "../json/bytes.ts";
import { LOWER_N, OPEN_ARRAY, OPEN_OBJECT, QUOTE, type Span, valueEnd } from "../json/cursor.ts";
import { NameFilter } from "../json/names.ts";
import { readSpan, type ScanFindings } from "../json/scan.ts";
import { skimObject } from "../json/skim.ts";
import { invalid } from "../json/value.ts";
import { DUPLICATE, mayEscapeNames, textAt, walkObjects } from "../json/walk.ts";
import { ADDRESS_NAMES, addressNames, mediaNames } from "./media.ts";

/** An upstream object that a body names: a file, vector store, container, conversation or cache. */
export interface NamedObject {
  /** The member that names it. */
  readonly param: string;
  readonly id: string;
  readonly kind: UpstreamObjectKind;
  /** A file used as a picture. */
  readonly isPicture?: true;
}

/** Kinds by member, in all dialects. */
const kinds: Readonly<Record<string, UpstreamObjectKind>> = {
  previous_response_id: "response",
  previous_message_id: "thread_message",
  previous_interaction_id: "interaction",
  input: "item",
  conversation: "conversation",
  prompt: "prompt",
  container: "container",
  container_id: "container",
  skill_id: "skill",
  vector_store_ids: "vector_store",
  file_id: "file",
  file_ids: "file",
  cachedContent: "cache",
  cached_content: "cache",
  comparison_response_id: "resource",
  tunnel_id: "resource",
  voice: "resource",
};

export function namedObject(param: string, id: string): NamedObject {
  return { param, id, kind: kinds[param] ?? "other" };
}

/** How a dialect names objects. */
export interface ObjectNames {
  /** Members at any depth that hold ids, and the holders. */
  readonly walked: ReadonlySet<string>;
  /** Members at any depth that are objects with an `id`. */
  readonly holders: ReadonlySet<string>;
  /** Byte sequences, at least one of which is in every body that names objects. */
  readonly marks: readonly Buffer[];
  /** Filter for these names and media names. */
  readonly filter: NameFilter;
}

/** Parts that only cite their origin, and skills available to everyone. */
const originPattern = /(?:_output|_result|citation|file_path|^anthropic)$/;
const picturePattern = /^(?:input_)?image/;

/** `marks`: see ObjectNames. `toolsIn`: members with tools other than the top-level list. `ids`: members with ids. */
export function objectNames(
  names: readonly string[],
  marks: readonly string[],
  { holders = [], toolsIn = [], ids = [] }: Partial<Record<"holders" | "toolsIn" | "ids", readonly string[]>> = {},
): ObjectNames {
  const walked = [...names, ...holders];
  return {
    walked: new Set(walked),
    holders: new Set(holders),
    marks: marks.map((mark) => Buffer.from(mark)),
    filter: new NameFilter()
      .add(OBJECT_NAMES, walked)
      .add(MEDIA_NAMES, mediaNames)
      .add(ADDRESS_NAMES, addressNames)
      .add(TOOL_NAMES, toolsIn)
      .add(ID_NAMES, ids),
  };
}

const OBJECT_NAMES = 1;
const MEDIA_NAMES = 2;
const TOOL_NAMES = 4;
const ID_NAMES = 8;

export const mayHoldMedia = ({ classes }: NameClasses): boolean => (classes & MEDIA_NAMES) !== 0;
export const mayHoldTools = ({ classes }: NameClasses): boolean => (classes & TOOL_NAMES) !== 0;
export const mayHoldIds = ({ classes }: NameClasses): boolean => (classes & ID_NAMES) !== 0;

type NameClasses = Pick<ScanFindings, "classes">;

/**
 * Objects named by nested members of a checked body. The scan's name classes and a search for marks rule out most bodies. Throws Failure
 * invalid_request for an id that is not a string.
 */
export function nestedObjects(
  body: Uint8Array,
  names: ObjectNames,
  { classes, longStrings }: Pick<ScanFindings, "classes" | "longStrings">,
): readonly NamedObject[] {
  if ((classes & OBJECT_NAMES) === 0) return noObjects;
  const bytes = asBuffer(body);
  if (!names.marks.some((mark) => bytes.includes(mark)) && !mayEscapeNames(bytes)) return noObjects;
  const found: NamedObject[] = [];
  const membersMax = bounds.namedObjectsMax * 10;
  const tooMany = walkObjects(
    bytes,
    names.walked,
    membersMax,
    ({ name, start, id }, { type, mimeType }) => {
      // In Gemini's dialect the media type decides.
      const typeAt = type === -1 ? mimeType : type;
      const partType = typeAt === -1 ? "" : (textAt(bytes, typeAt) ?? "");
      if (originPattern.test(partType)) return;
      if (!names.holders.has(name)) addIds(found, name, bytes, start, picturePattern.test(partType));
      else if (id === DUPLICATE) throw invalid(name, "must contain one id");
      else if (id !== -1 && bytes[id] !== LOWER_N) found.push(namedObject(name, idAt(bytes, id, name)));
    },
    longStrings,
  );
  if (tooMany !== null) throw invalid(tooMany, `appears more than ${membersMax} times`);
  return found;
}

/** Reads a top-level member that is an id or an object with one. Throws Failure invalid_request for others. */
export function objectsAt(body: Uint8Array, span: Span | undefined, param: string): readonly NamedObject[] {
  if (span === undefined || body[span.start] === LOWER_N) return noObjects;
  const isShort = span.end - span.start <= bounds.governingBytesMax;
  if (isShort && body[span.start] === OPEN_OBJECT) return idInObject(body, span, param);
  return [namedObject(param, idAt(asBuffer(body), span.start, param))];
}

function idAt(bytes: Buffer, start: number, param: string): string {
  const id = textAt(bytes, start);
  if (id === null || id === "") throw invalid(param, "must be an id, or an object with an id");
  return id;
}

/** Reads the `id` of an object. Without one it names nothing. */
export function idInObject(body: Uint8Array, span: Span | undefined, param: string): readonly NamedObject[] {
  if (span === undefined || body[span.start] !== OPEN_OBJECT) return noObjects;
  const id = skimObject(body, span.start, span.end, idOnly, () => {
    throw invalid(param, "must contain one id");
  })?.get("id");
  if (id === undefined || body[id.start] === LOWER_N) return noObjects;
  return [namedObject(param, idAt(asBuffer(body), id.start, param))];
}

const idOnly: ReadonlySet<string> = new Set(["id"]);

function addIds(found: NamedObject[], param: string, bytes: Buffer, start: number, isPicture: boolean): void {
  const first = bytes[start];
  if (first !== QUOTE && first !== OPEN_ARRAY) return;
  const end = valueEnd(bytes, start);
  if (end - start > bounds.governingBytesMax) throw invalid(param, "is longer than any id");
  const value = readSpan(bytes, { start, end });
  for (const id of Array.isArray(value) ? value : [value]) {
    if (typeof id !== "string") throw invalid(param, "must be an id, or a list of ids");
    found.push(isPicture ? { ...namedObject(param, id), isPicture } : namedObject(param, id));
    if (found.length > bounds.namedObjectsMax) throw invalid(param, `contains more than ${bounds.namedObjectsMax} ids`);
  }
}

const noObjects: readonly NamedObject[] = [];
