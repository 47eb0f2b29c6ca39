import { bounds, type UpstreamObjectKind } from "#core/index.ts";
import { asBuffer } from "../json/bytes.ts";
import { LOWER_N, OPEN_ARRAY, OPEN_OBJECT, QUOTE, type Span, valueEnd } from "../json/cursor.ts";
import { NameFilter } from "../json/names.ts";
import { type NameMatches, readSpan } from "../json/scan.ts";
import { skimObject } from "../json/skim.ts";
import { invalid } from "../json/value.ts";
import { DUPLICATE, mayEscapeNames, textAt, walkObjects } from "../json/walk.ts";
import { mediaNames } from "./media.ts";

/** An object at the upstream that a body names: a file, a store, a container, a conversation, a cache. */
export interface NamedObject {
  /** The member that names it. */
  readonly param: string;
  readonly id: string;
  readonly kind: UpstreamObjectKind;
  /** A file that is read as a picture. */
  readonly isPicture?: true;
}

/** What the members name, in every dialect. */
const kinds: Readonly<Record<string, UpstreamObjectKind>> = {
  previous_response_id: "response",
  previous_message_id: "thread_message",
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

/** How the bodies of one dialect name objects. */
export interface ObjectNames {
  /** Members anywhere in the body whose text, or texts, are ids; and the holders. */
  readonly walked: ReadonlySet<string>;
  /** Members anywhere in the body that are objects with an `id`. */
  readonly holders: ReadonlySet<string>;
  /** What all bodies with one of those hold somewhere, as bytes. */
  readonly marks: readonly Buffer[];
  /** What a scan listens for: these names, and those of media. */
  readonly sieve: NameFilter;
}

/** Parts of earlier answers that tell where something came from, and skills that the vendor gives to everybody. */
const originPattern = /(?:_output|_result|citation|file_path|^anthropic)$/;
/** A part that holds a picture. */
const picturePattern = /^(?:input_)?image/;

/** `marks`: see ObjectNames. `toolsIn`: the member in which tools stand elsewhere than at the top. `ids`: that of ids. */
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
    sieve: new NameFilter()
      .add(OBJECT_NAMES, walked)
      .add(MEDIA_NAMES, mediaNames)
      .add(TOOL_NAMES, toolsIn)
      .add(ID_NAMES, ids),
  };
}

const OBJECT_NAMES = 1;
const MEDIA_NAMES = 2;
const TOOL_NAMES = 4;
const ID_NAMES = 8;

/** Whether the body that was listened to may hold media, or an address of some. */
export const mayHoldMedia = ({ classes }: NameClasses): boolean => (classes & MEDIA_NAMES) !== 0;
/** Whether it may declare tools elsewhere than at the top. */
export const mayHoldTools = ({ classes }: NameClasses): boolean => (classes & TOOL_NAMES) !== 0;
/** Whether objects of it may have ids. */
export const mayHoldIds = ({ classes }: NameClasses): boolean => (classes & ID_NAMES) !== 0;

type NameClasses = Pick<NameMatches, "classes">;

/**
 * The objects that a checked body names in nested members. Bodies without any are told by what a scan of the whole has `heard`,
 * most others by a search of their bytes; one that could spell a name with escapes is walked as well. Throws Failure
 * invalid_request for a name that is no text.
 */
export function nestedObjects(body: Uint8Array, names: ObjectNames, heard: NameClasses): readonly NamedObject[] {
  if ((heard.classes & OBJECT_NAMES) === 0) return noObjects;
  const bytes = asBuffer(body);
  if (!names.marks.some((mark) => bytes.includes(mark)) && !mayEscapeNames(bytes)) return noObjects;
  const found: NamedObject[] = [];
  const membersMax = bounds.namedObjectsMax * 10;
  const tooMany = walkObjects(bytes, names.walked, membersMax, ({ name, start, id }, { type, mimeType }) => {
    // In Gemini's dialect a media type says what it is.
    const typeAt = type === -1 ? mimeType : type;
    const told = typeAt === -1 ? "" : (textAt(bytes, typeAt) ?? "");
    if (originPattern.test(told)) return;
    if (!names.holders.has(name)) addIds(found, name, bytes, start, picturePattern.test(told));
    else if (id === DUPLICATE) throw invalid(name, "must hold one id");
    else if (id !== -1 && bytes[id] !== LOWER_N) found.push(namedObject(name, idAt(bytes, id, name)));
  });
  if (tooMany !== null) throw invalid(tooMany, `stands more than ${membersMax} times`);
  return found;
}

/** Those of a top-level member that is an id, or an object with one. Throws for what is neither. */
export function objectsAt(body: Uint8Array, span: Span | undefined, param: string): readonly NamedObject[] {
  if (span === undefined || body[span.start] === LOWER_N) return noObjects;
  const isShort = span.end - span.start <= bounds.governingBytesMax;
  if (isShort && body[span.start] === OPEN_OBJECT) return idInObject(body, span, param);
  return [namedObject(param, idAt(asBuffer(body), span.start, param))];
}

/** The id in an object that a nested member holds. */
function idAt(bytes: Buffer, start: number, param: string): string {
  const id = textAt(bytes, start);
  if (id === null || id === "") throw invalid(param, "must be an id, or an object that holds one");
  return id;
}

/** Of a member that is an object. Without an id it names nothing. */
export function idInObject(body: Uint8Array, span: Span | undefined, param: string): readonly NamedObject[] {
  if (span === undefined || body[span.start] !== OPEN_OBJECT) return noObjects;
  const id = skimObject(body, span.start, span.end, idOnly, () => {
    throw invalid(param, "must hold one id");
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
    if (found.length > bounds.namedObjectsMax)
      throw invalid(param, `stands with more than ${bounds.namedObjectsMax} ids`);
  }
}

const noObjects: readonly NamedObject[] = [];
